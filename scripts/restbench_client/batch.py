"""A batch of calls in progress: it pulls inputs as far as there is room; each input gets exactly
one outcome."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import add
from queue import SimpleQueue
from time import monotonic, perf_counter
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

#: Seconds within which the threads of a batch end after `cancel`, unless user code holds them.
ENDS_WITHIN_S = 1.0


class Cancellation:
    """Cancellation of a batch: it closes registered connections, each at most once. Thread-safe."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._closing: dict[int, Callable[[], None]] = {}

    def add(self, key: int, close: Callable[[], None]) -> None:
        """Register `close`, which must not block. Raises Stopped where the batch is cancelled."""
        with self._lock:
            if self._event.is_set():
                raise Stopped
            self._closing[key] = close

    def remove(self, key: int) -> None:
        """Unregister the function of this key, if there is one."""
        with self._lock:
            self._closing.pop(key, None)

    def set(self) -> None:
        """Cancel: call all registered functions."""
        with self._lock:
            self._event.set()
            for close in self._closing.values():
                close()
            self._closing.clear()

    def is_set(self) -> bool:
        """Whether the batch is cancelled."""
        return self._event.is_set()

    def wait(self, seconds: float) -> None:
        """Sleep. Raises Stopped as soon as the batch is cancelled."""
        if self._event.wait(seconds):
            raise Stopped


class Batch(Generic[R]):
    """A batch of calls that one strategy makes: an iterator over outcomes, and a context manager.

    `work`, if set, makes one call on the thread that takes an outcome.
    """

    def __init__(
        self, inputs: Iterator[Any], job: Job[Any, Any, R], limits: Limits, room: int
    ) -> None:
        """`room`: maximum number of inputs that are pulled and whose outcomes are not yet taken."""
        self.job, self.limits = job, limits
        self.cancellation = Cancellation()
        self.workers: list[threading.Thread] = []
        self.work: Callable[[], object] | None = None
        self.processing = threading.Lock()
        """Serialises stage P over all calls: the caller's code needs no lock."""
        self.began = perf_counter()
        self.ended: float | None = None
        self._inputs, self._room = inputs, room
        self._lock = threading.Lock()
        self._pulling, self._taking = threading.Lock(), threading.Lock()
        self._made_room = threading.Condition(self._lock)
        self.wants_room = False
        """Whether the thread that pulls inputs waits until an outcome is taken."""
        self.wake: Callable[[], None] = self._made_room.notify
        """Called when room was made for a waiting pull, or at a cancel. It must not block."""
        self._outcomes: SimpleQueue[Outcome[R] | None] = SimpleQueue()
        """Outcomes in the order of completion, then None as the end marker."""
        self._collecting = threading.Lock()
        self._collected: list[Outcome[R]] = []
        """Outcomes that `all` has taken, and did not return because an exception ended it."""
        self._early: dict[int, Outcome[R]] = {}
        """Outcomes of an ordered batch that arrived before their predecessors, by index."""
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
        """Wait for room; return the index and the input of the next call. None after the last input
        or a cancel."""
        with self._pulling:
            with self._made_room:
                while not self.has_room:
                    self.wants_room = True
                    self._made_room.wait()
                self._is_pulling = True  # the batch must not end before next() returns
            failed: BaseException | None = None
            if not (self._is_exhausted or self.cancellation.is_set()):
                try:
                    given = next(self._inputs)
                except StopIteration:
                    pass
                except BaseException as error:  # `take` raises it
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
        """Pull no more inputs. The last `take` raises `error`, if it is not None."""
        with self._lock:
            self._error = self._error or error
            self._is_exhausted = True
            self._end_if_over()

    def put(self, outcome: Outcome[R], wall_s: Sequence[float], cpu_s: Sequence[float]) -> None:
        """Deliver the outcome of a call, with the seconds of wall and CPU time of its stages."""
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
        """Count one more thread of this name that works for the batch, until it leaves."""
        with self._lock:
            self._working[name] += 1
            self._most_working[name] = max(self._most_working.get(name, 0), self._working[name])

    def leave(self, name: str) -> None:
        """Count one thread of this name less."""
        with self._lock:
            self._working[name] -= 1

    def sent(self) -> None:
        """Count an attempt that begins: the call is in flight."""
        with self._lock:
            self._attempts += 1
            self._in_flight += 1
            self._peak = max(self._peak, self._in_flight)

    def answered(self) -> None:
        """Count the end of an attempt: the call is no longer in flight."""
        with self._lock:
            self._in_flight -= 1

    def retry_s(self, failure: Exception, made: int, retry_after: str | None) -> float | None:
        """Seconds until the next attempt; None where the call is not repeated.

        Retries that may repeat work have a budget: 10 and a tenth of the inputs pulled.
        """
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
        """Wait for the next outcome; None after the last one. Thread-safe.

        Outcomes come in the order of completion, or of the inputs where `limits.ordered`. Raises
        the exception of the inputs, once, after the outcomes of all pulled inputs were taken.
        """
        with self._taking:
            if self.work and self._outcomes.empty():
                self.work()
            outcome = self._next()
            if outcome is None:
                self._outcomes.put(None)  # for the next `take`
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
        """Wait for all remaining outcomes; return them in the order of the inputs.

        Where `take` raises an exception, the next call returns also those taken before it.
        """
        with self._collecting:
            self._collected.extend(self)
            collected, self._collected = self._collected, []
        return sorted(collected, key=lambda each: each.index)

    def __iter__(self) -> Iterator[Outcome[R]]:
        """This batch: it is its own iterator."""
        return self

    def __next__(self) -> Outcome[R]:
        """The next outcome, as `take` returns it."""
        outcome = self.take()
        if outcome is None:
            raise StopIteration
        return outcome

    def totals(self) -> Totals:
        """Totals of all calls up to now."""
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
        """Stop the batch: pull no input, close connections in flight, cancel waiting calls. May be
        called from any thread and repeatedly."""
        if self._timer:
            self._timer.cancel()
        self.cancellation.set()
        if self.work:
            self.exhaust(None)
        with self._lock:
            self.wake()

    def close(self) -> None:
        """Cancel, and wait for the threads of the batch.

        Raises RuntimeError where user code still holds threads after ENDS_WITHIN_S.
        """
        self.cancel()
        ends = monotonic() + ENDS_WITHIN_S
        others = [each for each in self.workers if each is not threading.current_thread()]
        for each in others:
            each.join(max(0.0, ends - monotonic()))
        if held := [each.name for each in others if each.is_alive()]:
            raise RuntimeError(f"still running after {ENDS_WITHIN_S:g} s: {', '.join(held)}")

    def __enter__(self) -> Self:
        """This batch, which the end of the with-block closes."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the batch."""
        self.close()
