"""One call: its stages S, C with its retries, D and P, with their times, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from time import monotonic, perf_counter, thread_time
from typing import Any, Generic, TypeAlias

from restbench_client.batch import Batch
from restbench_client.model import (
    Answer,
    Cancelled,
    Done,
    ExchangeFailure,
    Failed,
    Kind,
    Outcome,
    R,
    ServiceRefused,
    Stage,
    StageTimes,
    Stopped,
)

#: A call that waits for its turn in P looks so often whether its batch was cancelled.
LOOKS_EVERY_S = 0.05
#: Where a stage stands in a list of times: a member of an enum would cost more than what is timed.
_S, _C, _D, _P = range(4)
_STAGES = tuple(Stage)
#: What a call asks for: a message to be sent, whose answer is sent into it, or seconds to wait.
Steps: TypeAlias = Generator[bytes | float, Answer | None, Outcome[R]]


class Call(Generic[R]):
    """A strategy drives `steps`, does what they ask, and gives their outcome to `end`. Moments are
    seconds since the batch began."""

    def __init__(self, batch: Batch[R], index: int, given: Any) -> None:
        """It begins now."""
        self.batch, self.index, self.given = batch, index, given
        self.attempts = 0
        self._begun = self._now()
        self._sent_at: float | None = None
        self._answered_at: float | None = None
        self._answer: Answer | None = None
        self._wall, self._cpu = [0.0] * len(_STAGES), [0.0] * len(_STAGES)
        self._cpu_at = 0.0
        """Of its thread, when the stage before ended: asking the kernel is dear, so one end is the
        next begin."""

    def steps(self) -> Steps[R]:
        """S, C with its retries, D and P. What is thrown into it at a message is C's failure."""
        batch = self.batch
        job, stage = batch.job, _S
        self._cpu_at = thread_time()
        try:
            self._require_going()
            request = self._timed(_S, job.codec.encode, self.given)
            while True:
                stage = _C
                self._require_going()
                self._answer = None
                try:
                    self._answer = yield request
                    stage = _D
                    output = self._timed(_D, job.codec.decode, self._answer)
                    break
                except (ExchangeFailure, ServiceRefused) as failure:
                    after = self._answer.headers.get("retry-after") if self._answer else None
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
        except BaseException as error:  # it is this call's outcome
            if batch.work and isinstance(error, KeyboardInterrupt):
                raise  # on the thread of whom asks for an outcome it is meant for that
            kind = getattr(error, "kind", None)
            known = kind if isinstance(kind, Kind) and stage in {_C, _D} else Kind.USER
            return Failed(self.index, self.attempts, self._times(), _STAGES[stage], known, error)
        return Done(self.index, self.attempts, self._times(), result)

    def cancelled(self) -> Cancelled:
        """Its outcome where it did not come to its end."""
        return Cancelled(self.index, self.attempts, self._times())

    def end(self, outcome: Outcome[R]) -> None:
        """It is over."""
        self.batch.put(outcome, self._wall, self._cpu)

    def begin_send(self) -> float:
        """C begins: until when the answer has to be there, of time.monotonic()."""
        self.attempts += 1
        self._sent_at, self._answered_at = self._now(), None
        self.batch.sent()
        return monotonic() + self.batch.limits.per_call_s

    def end_send(self, *, is_held: bool) -> None:
        """C is over, one way or the other; `is_held`: its thread did nothing else meanwhile."""
        self._answered_at = self._now()
        self._wall[_C] += self._answered_at - (self._sent_at or 0.0)
        self._spent(_C, is_mine=is_held)
        self.batch.answered()

    def _timed(self, stage: int, function: Callable[..., Any], *given: Any) -> Any:
        wall = perf_counter()
        try:
            return function(*given)
        finally:
            self._wall[stage] += perf_counter() - wall
            self._spent(stage)

    def _spent(self, stage: int, *, is_mine: bool = True) -> None:
        now = thread_time()
        if is_mine:
            self._cpu[stage] += now - self._cpu_at
        self._cpu_at = now

    def _require_going(self) -> None:
        if self.batch.cancellation.is_set():
            raise Stopped

    def _now(self) -> float:
        return perf_counter() - self.batch.began

    def _times(self) -> StageTimes:
        answer, (s, c, d, p) = self._answer, self._wall
        return StageTimes(
            self._begun,
            self._sent_at,
            self._answered_at,
            self._now(),
            s,
            c,
            d,
            p,
            answer.status if answer else None,
            answer.headers.get("server-timing") if answer else None,
        )
