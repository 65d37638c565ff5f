"""One batch under way: inputs are pulled as there is room, each gets exactly one outcome."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from operator import add
from time import monotonic, perf_counter, thread_time
from types import TracebackType
from typing import Any, Generic, Self, TypeAlias

from restbench_client.model import (
    MAY_REPEAT_WORK,
    Answer,
    Cancelled,
    Done,
    ExchangeFailure,
    Failed,
    Job,
    Kind,
    Limits,
    Outcome,
    R,
    ServiceRefused,
    Stage,
    StageTimes,
    Stopped,
    Totals,
)

#: Threads end so soon after `cancel`, unless user code goes on.
ENDS_WITHIN_S = 1.0
#: A call that waits for its turn in P looks so often whether its batch was cancelled.
LOOKS_EVERY_S = 0.05
#: Where a stage stands in a list of times: a member of an enum would cost more than what is timed.
_S, _C, _D, _P = range(4)
_STAGES = tuple(Stage)


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


#: What a call asks for: a message to be sent, whose answer is sent into it, or seconds to wait.
Steps: TypeAlias = Generator[bytes | float, Answer | None, Outcome[R]]


class Batch(Generic[R]):
    """Calls of one strategy: an iterator of outcomes. `work`, if any, does a call on the thread of
    whom asks for an outcome."""

    def __init__(
        self,
        inputs: Iterator[Any],
        job: Job[Any, Any, R],
        limits: Limits,
        threads: dict[str, int],
        room: int,
    ) -> None:
        """`room`: inputs pulled and not yet taken, at most."""
        self.inputs, self.job, self.limits, self.threads = inputs, job, limits, threads
        self.cancellation = Cancellation()
        self.workers: list[threading.Thread] = []
        self.work: Callable[[], bool] | None = None
        self.wake: Callable[[], None] = lambda: None
        """Called when it is cancelled, and once for `wants_room`: of an event loop."""
        self.wants_room = False
        """Whether an event loop, which must not block, is to be woken when an outcome is taken."""
        self.processing = threading.Lock()
        """P of one call at a time: the caller's code needs no lock."""
        self.began = perf_counter()
        self.ended: float | None = None
        self._room = room
        self._lock = threading.Lock()
        self._ready = threading.Condition(self._lock)
        self._made_room = threading.Condition(self._lock)
        self._pulling = threading.Lock()
        self._outcomes: dict[int, Outcome[R]] = {}
        self._pulled = self._finished = self._taken = 0
        self._is_exhausted = False
        self._error: BaseException | None = None
        self._jitter = random.Random(limits.retries.seed)  # noqa: S311
        self._repeated = self._in_flight = self._peak = self._peak_waiting = 0
        self._attempts = self._retries = 0
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

    def pull(self) -> Call[R] | None:
        """The next call, as soon as there is room; None after the last."""
        with self._pulling:
            with self._lock:
                while not self.has_room:
                    self._made_room.wait()
            failed: BaseException | None = None
            if not (self._is_exhausted or self.cancellation.is_set()):
                try:
                    given = next(self.inputs)
                except StopIteration:
                    pass
                except BaseException as error:  # `take` throws it
                    failed = error
                else:
                    with self._lock:
                        index, self._pulled = self._pulled, self._pulled + 1
                    return Call(self, index, given, perf_counter() - self.began)
            self.exhaust(failed)
            return None

    def exhaust(self, error: BaseException | None) -> None:
        """No more inputs; an error is thrown by the last `take`."""
        with self._lock:
            self._error = self._error or error
            self._is_exhausted = True
            self._end_if_over()
            self._ready.notify_all()

    def put(self, call: Call[R], outcome: Outcome[R]) -> None:
        """A call is over."""
        with self._lock:
            self._outcomes[outcome.index] = outcome
            self._finished += 1
            self._peak_waiting = max(self._peak_waiting, len(self._outcomes))
            self._wall[:] = map(add, self._wall, call.wall)
            self._cpu[:] = map(add, self._cpu, call.cpu)
            self._end_if_over()
            self._ready.notify_all()

    def _end_if_over(self) -> None:
        if self._is_exhausted and self._finished == self._pulled and self.ended is None:
            self.ended = perf_counter()
            if self._timer:
                self._timer.cancel()

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
                if self._repeated >= self._pulled / 10 + 10:
                    return None
                self._repeated += 1
            self._retries += wait_s is not None
            return wait_s

    # --- for the caller ---------------------------------------------------------------------

    def take(self) -> Outcome[R] | None:
        """The next one finished, of an ordered batch the next of the inputs; None after the last.
        What the inputs threw is thrown once all that were pulled have been taken."""
        while self.work and not self._is_ready() and self.work():
            pass
        with self._lock:
            while not (is_ready := self._is_ready()) and self.ended is None:
                self._ready.wait()
            if not is_ready:
                if (error := self._error) is not None:
                    self._error = None
                    raise error
                return None
            key = self._taken if self.limits.ordered else next(iter(self._outcomes))
            outcome = self._outcomes.pop(key)
            self._taken += 1
            self._made_room.notify()  # one thread waits at most: it has `_pulling`
        if self.wants_room:
            self.wants_room = False
            self.wake()
        return outcome

    def _is_ready(self) -> bool:
        return self._taken in self._outcomes if self.limits.ordered else bool(self._outcomes)

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
                self._peak_waiting,
                self._attempts,
                self._retries,
                self.threads,
            )

    def cancel(self) -> None:
        """No new input; connections in flight are closed, what waits is cancelled. From any thread,
        any number of times."""
        if self._timer:
            self._timer.cancel()
        self.cancellation.set()
        with self._lock:
            self._ready.notify_all()
            self._made_room.notify_all()
        if self.work:
            self.exhaust(None)
        self.wake()

    def close(self) -> None:
        """Cancel, and wait for the threads; RuntimeError names one that user code holds."""
        self.cancel()
        ends = monotonic() + ENDS_WITHIN_S
        for each in self.workers:
            if each is not threading.current_thread():
                each.join(max(0.0, ends - monotonic()))
        alive = [each.name for each in self.workers if each.is_alive()]
        if held := [name for name in alive if name != threading.current_thread().name]:
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


@dataclass(slots=True)
class Call(Generic[R]):
    """One call: its stages and their times. A strategy drives `steps`, and does what they ask."""

    batch: Batch[R]
    index: int
    given: Any
    begun: float
    """Seconds since the batch began, as all moments of a call."""
    attempts: int = 0
    wall: list[float] = field(default_factory=lambda: [0.0] * 4)
    cpu: list[float] = field(default_factory=lambda: [0.0] * 4)
    sent_at: float | None = None
    answered_at: float | None = None
    answer: Answer | None = None

    def steps(self) -> Steps[R]:
        """S, C with its retries, D and P. What is thrown into it at a message is C's failure."""
        batch = self.batch
        job, stage = batch.job, _S
        try:
            self._require_going()
            request = self._timed(_S, job.codec.encode, self.given)
            while True:
                stage = _C
                self._require_going()
                self.answer = None
                try:
                    self.answer = yield request
                    stage = _D
                    output = self._timed(_D, job.codec.decode, self.answer)
                    break
                except (ExchangeFailure, ServiceRefused) as failure:
                    after = self.answer.headers.get("retry-after") if self.answer else None
                    wait_s = batch.retry_s(failure, self.attempts, after)
                    if wait_s is None:
                        raise
                yield wait_s
            stage = _P
            while not batch.processing.acquire(timeout=LOOKS_EVERY_S):
                self._require_going()
            try:
                self._require_going()
                result = self._timed(_P, job.process, self.index, self.given, output)
            finally:
                batch.processing.release()
        except Stopped:
            return self.cancelled()
        except (GeneratorExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # it is this call's outcome
            kind = getattr(error, "kind", None)
            known = kind if isinstance(kind, Kind) and stage in {_C, _D} else Kind.USER
            return Failed(self.index, self.attempts, self._times(), _STAGES[stage], known, error)
        return Done(self.index, self.attempts, self._times(), result)

    def cancelled(self) -> Cancelled:
        """Its outcome where it did not come to its end."""
        return Cancelled(self.index, self.attempts, self._times())

    def begin_send(self) -> float:
        """C begins: until when the answer has to be there, of time.monotonic()."""
        self.attempts += 1
        self.sent_at, self.answered_at = self._now(), None
        self.batch.sent()
        return monotonic() + self.batch.limits.per_call_s

    def end_send(self, cpu_s: float = 0.0) -> None:
        """C is over, one way or the other."""
        self.answered_at = self._now()
        self.wall[_C] += self.answered_at - (self.sent_at or 0.0)
        self.cpu[_C] += cpu_s
        self.batch.answered()

    def _timed(self, stage: int, function: Callable[..., Any], *given: Any) -> Any:
        wall, cpu = perf_counter(), thread_time()
        try:
            return function(*given)
        finally:
            self.wall[stage] += perf_counter() - wall
            self.cpu[stage] += thread_time() - cpu

    def _require_going(self) -> None:
        if self.batch.cancellation.is_set():
            raise Stopped

    def _now(self) -> float:
        return perf_counter() - self.batch.began

    def _times(self) -> StageTimes:
        answer = self.answer
        s, c, d, p = self.wall
        return StageTimes(
            self.begun,
            self.sent_at,
            self.answered_at,
            self._now(),
            s,
            c,
            d,
            p,
            answer.status if answer else None,
            answer.headers.get("server-timing") if answer else None,
        )
