"""One batch under way: inputs are pulled as there is room, each gets exactly one outcome."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import add
from queue import SimpleQueue
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any, Generic, Self

from restbench_client.model import (
    MAY_REPEAT_WORK,
    Job,
    Limits,
    Outcome,
    R,
    Stage,
    Stopped,
    Totals,
)

#: Threads end so soon after `cancel`, unless user code goes on.
ENDS_WITHIN_S = 1.0


class Cancellation:
    """What is to be closed when a batch is cancelled: each at most once, from any thread."""

    def __init__(self) -> None:
        """Not cancelled."""
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._closing: dict[int, Callable[[], None]] = {}

    def add(self, key: int, close: Callable[[], None]) -> None:
        """`close` must not wait. Stopped where it is cancelled already."""
        with self._lock:
            if self._event.is_set():
                raise Stopped
            self._closing[key] = close

    def remove(self, key: int) -> None:
        """It is no longer to be closed."""
        with self._lock:
            self._closing.pop(key, None)

    def set(self) -> None:
        """Close everything."""
        with self._lock:
            self._event.set()
            for close in self._closing.values():
                close()
            self._closing.clear()

    def is_set(self) -> bool:
        """Whether it is cancelled."""
        return self._event.is_set()

    def wait(self, seconds: float) -> None:
        """Let time pass; Stopped where it is cancelled."""
        if self._event.wait(seconds):
            raise Stopped


class Batch(Generic[R]):
    """Calls of one strategy: an iterator of outcomes. `work`, if any, does a call on the thread of
    whom asks for an outcome."""

    def __init__(
        self,
        inputs: Iterator[Any],
        job: Job[Any, Any, R],
        limits: Limits,
        room: int,
    ) -> None:
        """`room`: inputs pulled and not yet taken, at most."""
        self.job, self.limits = job, limits
        self.cancellation = Cancellation()
        self.workers: list[threading.Thread] = []
        self.work: Callable[[], object] | None = None
        self.processing = threading.Lock()
        """P of one call at a time: the caller's code needs no lock."""
        self.began = perf_counter()
        self.ended: float | None = None
        self._inputs, self._room = inputs, room
        self._lock = threading.Lock()
        self._pulling, self._taking = threading.Lock(), threading.Lock()
        self._made_room = threading.Condition(self._lock)
        self.wants_room = False
        """Whether who pulls waits for an outcome to be taken."""
        self.wake: Callable[[], None] = self._made_room.notify
        """Wakes who pulls, where it waits or the batch is cancelled; it must not block."""
        self._outcomes: SimpleQueue[Outcome[R] | None] = SimpleQueue()
        """As they come, and None behind the last."""
        self._early: dict[int, Outcome[R]] = {}
        """Of an ordered batch, by index: those that came before their turn."""
        self._pulled = self._finished = self._taken = 0
        self._is_exhausted = self._is_pulling = False
        self._error: BaseException | None = None
        self._jitter = random.Random(limits.retries.seed)  # noqa: S311
        self._repeated = self._in_flight = self._peak = 0
        self._attempts = self._retries = 0
        self._working: Counter[str] = Counter()
        self._most_working: dict[str, int] = {}
        self._wall, self._cpu = [0.0] * len(Stage), [0.0] * len(Stage)
        self._timer = threading.Timer(limits.whole_s, self.cancel) if limits.whole_s else None
        if self._timer:
            self._timer.daemon = True
            self._timer.start()

    # --- for strategies ---------------------------------------------------------------------

    @property
    def has_room(self) -> bool:
        """Whether an input may be pulled now."""
        return self._pulled - self._taken < self._room or self.cancellation.is_set()

    def pull(self) -> tuple[int, Any] | None:
        """The index of the next call and its input, as soon as there is room; None after the
        last."""
        with self._pulling:
            with self._made_room:
                while not self.has_room:
                    self.wants_room = True
                    self._made_room.wait()
                self._is_pulling = True  # a cancel meanwhile is not the end: an input may come
            failed: BaseException | None = None
            if not (self._is_exhausted or self.cancellation.is_set()):
                try:
                    given = next(self._inputs)
                except StopIteration:
                    pass
                except BaseException as error:  # `take` throws it
                    failed = error
                else:
                    with self._lock:
                        self._is_pulling = False
                        index, self._pulled = self._pulled, self._pulled + 1
                    return index, given
            self._is_pulling = False
            self.exhaust(failed)
            return None

    def exhaust(self, error: BaseException | None) -> None:
        """No more inputs; an error is thrown by the last `take`."""
        with self._lock:
            self._error = self._error or error
            self._is_exhausted = True
            self._end_if_over()

    def put(self, outcome: Outcome[R], wall_s: Sequence[float], cpu_s: Sequence[float]) -> None:
        """A call is over, with the seconds of its stages."""
        with self._lock:
            self._finished += 1
            self._wall[:] = map(add, self._wall, wall_s)
            self._cpu[:] = map(add, self._cpu, cpu_s)
            self._outcomes.put(outcome)
            self._end_if_over()

    def _end_if_over(self) -> None:
        is_over = self._is_exhausted and not self._is_pulling and self._finished == self._pulled
        if is_over and self.ended is None:
            self.ended = perf_counter()
            self._outcomes.put(None)
            if self._timer:
                self._timer.cancel()

    def enter(self, name: str) -> None:
        """One more thread of this name works for it, until it leaves."""
        with self._lock:
            self._working[name] += 1
            self._most_working[name] = max(self._most_working.get(name, 0), self._working[name])

    def leave(self, name: str) -> None:
        """One thread less."""
        with self._lock:
            self._working[name] -= 1

    def sent(self) -> None:
        """A call is with the exchange."""
        with self._lock:
            self._attempts += 1
            self._in_flight += 1
            self._peak = max(self._peak, self._in_flight)

    def answered(self) -> None:
        """It no longer is."""
        with self._lock:
            self._in_flight -= 1

    def retry_s(self, failure: Exception, made: int, retry_after: str | None) -> float | None:
        """Seconds until the next attempt, None where there is none; within the budget."""
        with self._lock:
            wait_s = self.limits.retries.wait_s(failure, made, retry_after, self._jitter)
            if wait_s is not None and getattr(failure, "kind", None) in MAY_REPEAT_WORK:
                if self._repeated >= self._pulled // 10 + 10:
                    return None
                self._repeated += 1
            self._retries += wait_s is not None
            return wait_s

    # --- for the caller ---------------------------------------------------------------------

    def take(self) -> Outcome[R] | None:
        """The next one finished, of an ordered batch the next of the inputs; None after the last.
        What the inputs threw is thrown once all that were pulled have been taken."""
        with self._taking:
            if self.work and self._outcomes.empty():
                self.work()
            outcome = self._next()
            if outcome is None:
                self._outcomes.put(None)  # for the next that asks
                error, self._error = self._error, None
                if error is not None:
                    raise error
                return None
            with self._lock:
                self._taken += 1
                if self.wants_room:
                    self.wants_room = False
                    self.wake()
            return outcome

    def _next(self) -> Outcome[R] | None:
        while (outcome := self._early.pop(self._taken, None)) is None:
            outcome = self._outcomes.get()
            if outcome is None or not self.limits.ordered:
                return outcome
            self._early[outcome.index] = outcome
        return outcome

    def all(self) -> list[Outcome[R]]:
        """What is left, in the order of the inputs."""
        return sorted(self, key=lambda each: each.index)

    def __iter__(self) -> Iterator[Outcome[R]]:
        """As they finish."""
        return self

    def __next__(self) -> Outcome[R]:
        """The next outcome."""
        outcome = self.take()
        if outcome is None:
            raise StopIteration
        return outcome

    def totals(self) -> Totals:
        """So far."""
        with self._lock:
            return Totals(
                (self.ended or perf_counter()) - self.began,
                dict(zip(Stage, self._wall, strict=True)),
                dict(zip(Stage, self._cpu, strict=True)),
                self._peak,
                self._attempts,
                self._retries,
                {**self._most_working},
            )

    def cancel(self) -> None:
        """No new input; connections in flight are closed, what waits is cancelled. From any thread,
        any number of times."""
        if self._timer:
            self._timer.cancel()
        self.cancellation.set()
        if self.work:
            self.exhaust(None)
        with self._lock:
            self.wake()

    def close(self) -> None:
        """Cancel, and wait for the threads; RuntimeError names one that user code holds."""
        self.cancel()
        ends = monotonic() + ENDS_WITHIN_S
        others = [each for each in self.workers if each is not threading.current_thread()]
        for each in others:
            each.join(max(0.0, ends - monotonic()))
        if held := [each.name for each in others if each.is_alive()]:
            raise RuntimeError(f"still running after {ENDS_WITHIN_S:g} s: {', '.join(held)}")

    def __enter__(self) -> Self:
        """Closed with the with-block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """As `close`."""
        self.close()
