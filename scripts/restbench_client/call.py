"""One call: it runs the stages S, C with retries, D and P, measures them and yields an outcome."""

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

#: Seconds between two checks for cancellation while a call waits to enter stage P.
LOOKS_EVERY_S = 0.05
#: Indices of the stages in the lists of times. The lookup of an enum member would cost more time
#: than a short stage takes.
_S, _C, _D, _P = range(4)
_STAGES = tuple(Stage)
#: The generator yields a request body, and receives its answer, or yields seconds to wait.
Steps: TypeAlias = Generator[bytes | float, Answer | None, Outcome[R]]


class Call(Generic[R]):
    """One call of a batch. Moments are seconds since the begin of the batch.

    A strategy runs the generator `steps`, sends or waits as it yields, and passes the outcome that
    the generator returns to `end`.
    """

    def __init__(self, batch: Batch[R], index: int, given: Any) -> None:
        """Create the call with the number `index`, which begins now, for the input `given`."""
        self.batch, self.index, self.given = batch, index, given
        self.attempts = 0
        self._begun = self._now()
        self._sent_at: float | None = None
        self._answered_at: float | None = None
        self._answer: Answer | None = None
        self._wall, self._cpu = [0.0] * len(_STAGES), [0.0] * len(_STAGES)
        self._cpu_at = 0.0
        """CPU time of the thread at the end of the previous stage, in seconds. Reading it is an
        expensive system call, so the end of one stage serves as the begin of the next."""

    def steps(self) -> Steps[R]:
        """Run S, C with retries, D and P; return the outcome. An exception that the strategy throws
        in place of an answer is a failure of C."""
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
        except BaseException as error:  # becomes the outcome of this call
            if batch.work and isinstance(error, KeyboardInterrupt):
                raise  # this is the caller's own thread: the interrupt is for the caller
            kind = getattr(error, "kind", None)
            known = kind if isinstance(kind, Kind) and stage in {_C, _D} else Kind.USER
            if known is not Kind.USER:  # they refer to the answer, the request and the input
                error.__traceback__ = error.__cause__ = error.__context__ = None
            return Failed(self.index, self.attempts, self._times(), _STAGES[stage], known, error)
        return Done(self.index, self.attempts, self._times(), result)

    def cancelled(self) -> Cancelled:
        """The outcome of this call where it was interrupted."""
        return Cancelled(self.index, self.attempts, self._times())

    def end(self, outcome: Outcome[R]) -> None:
        """Deliver the outcome to the batch."""
        self.batch.put(outcome, self._wall, self._cpu)

    def begin_send(self) -> float:
        """Begin an attempt of C; return the answer's deadline in seconds of time.monotonic()."""
        self.attempts += 1
        self._sent_at, self._answered_at = self._now(), None
        self.batch.sent()
        return monotonic() + self.batch.limits.per_call_s

    def end_send(self, *, is_held: bool) -> None:
        """End an attempt of C, after an answer or a failure.

        `is_held`: the thread waited for this call only, so that its CPU time counts for C.
        """
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
