"""The data model of calls: stages S, C, D and P, limits, retries, times, failures and outcomes."""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeGuard, TypeVar

I = TypeVar("I")  # noqa: E741 - the input of a call
O = TypeVar("O")  # noqa: E741 - the decoded output
R = TypeVar("R")
I_contra = TypeVar("I_contra", contravariant=True)
O_co = TypeVar("O_co", covariant=True)

#: Error code of a service at its limit. The service did no work: the call may be sent again.
BUSY = "008"
MOST = 100_000
DAY_S = 86_400.0


def within(name: str, value: int, most: int) -> int:
    """Return `value`. Raises ValueError unless it is an integer from 1 to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise ValueError(f"{name}: must be from 1 to {most}, is {value}")
    return value


def is_code(text: object) -> TypeGuard[str]:
    """Whether this is an error code of the contract: three digits."""
    return isinstance(text, str) and re.fullmatch("[0-9]{3}", text) is not None


class Stage(StrEnum):
    """A stage of a call: serialise, call, deserialise, process."""

    S = "S"
    C = "C"
    D = "D"
    P = "P"


class Kind(StrEnum):
    """Why a call failed."""

    CONNECT = "CONNECT"
    """No connection could be opened."""
    TIMEOUT = "TIMEOUT"
    CUT_OFF = "CUT_OFF"
    """The connection was closed before the end of the answer."""
    NOT_HTTP = "NOT_HTTP"
    TOO_LARGE = "TOO_LARGE"
    REFUSED = "REFUSED"
    """The service answered with an error of its contract."""
    MALFORMED = "MALFORMED"
    """The answer is neither a result nor an error."""
    USER = "USER"
    """The caller's own code raised an exception, or the codec raised an undeclared one."""


@dataclass(frozen=True)
class Answer:
    """The HTTP response of the service. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class MatrixProduct:
    """A product of two matrices; rows[i][j] is its element in row i, column j."""

    request_id: str
    rows: list[list[int]]


class ExchangeFailure(Exception):
    """No answer was received: CONNECT, TIMEOUT, CUT_OFF, NOT_HTTP or TOO_LARGE."""

    def __init__(self, kind: Kind, message: str) -> None:
        """`message` is the description that the transport gave."""
        super().__init__(message)
        self.kind = kind


class Stopped(Exception):
    """The batch was cancelled."""


class ServiceRefused(Exception):
    """The service answered with an error of its contract.

    `error_code` has three digits; `request_id` is None where the service could not read it.
    """

    kind = Kind.REFUSED

    def __init__(self, error_code: str, message: str, request_id: str | None = None) -> None:
        super().__init__(message)
        self.error_code = error_code
        self.request_id = request_id


class MalformedAnswer(Exception):
    """The answer is neither a result nor an error of the contract."""

    kind = Kind.MALFORMED


class Codec(Protocol[I_contra, O_co]):
    """Stages S and D. A codec has no state: several threads may use it at once."""

    def encode(self, given: I_contra) -> bytes:
        """Return the request body for an input. Any exception fails this call in stage S."""

    def decode(self, answer: Answer) -> O_co:
        """Return the output. Raises ServiceRefused for an error, else MalformedAnswer."""


Processor: TypeAlias = Callable[[int, I, O], R]
"""Stage P: a function of the index of a call, its input and its output."""
#: Stage C without a thread. Arguments: the request body, a deadline in seconds of time.monotonic(),
#: and the maximum size of the answer in bytes. The awaitable yields the answer or raises
#: ExchangeFailure; its cancellation closes the connection.
AsyncSend: TypeAlias = Callable[[bytes, float, int], Awaitable[Answer]]


@dataclass(frozen=True)
class Job(Generic[I, O, R]):
    """What is done with each input. `exchange` is an Exchange or an AsyncExchange, as the strategy
    requires (strategies.py)."""

    codec: Codec[I, O]
    exchange: object
    process: Processor[I, O, R]


@dataclass(frozen=True)
class Retries:
    """Which failed calls are sent again, and after which wait.

    After a failed connection and after error 008 the service has done no work, so that a retry is
    safe for any call.
    """

    NONE: ClassVar[Retries]
    SAFE: ClassVar[Retries]
    """Retries that are safe for any call."""
    IDEMPOTENT: ClassVar[Retries]
    """Retries for calls that may be executed twice."""

    attempts: int = 1
    """Attempts per call in total, 1 to 100."""
    busy_attempts: int = 1
    """Attempts per call in total where the last one was answered with 008, 1 to 100."""
    idempotent: bool = False
    """Whether a call may be executed twice: a call that was cut off is then repeated as well."""
    on_timeout: bool = False
    """Whether a call that timed out is repeated."""
    seed: int = 0
    """Seed of the random jitter of the waits."""

    def __post_init__(self) -> None:
        """Raises ValueError where a number of attempts is out of range."""
        within("attempts", self.attempts, 100)
        within("busy_attempts", self.busy_attempts, 100)

    def wait_s(
        self, failure: Exception, made: int, retry_after: str | None, jitter: random.Random
    ) -> float | None:
        """Seconds until the next attempt; None where the call is not repeated.

        `made` counts the attempts so far. A Retry-After in seconds is followed, up to 5 s.
        """
        kind = getattr(failure, "kind", Kind.USER)
        is_busy = kind is Kind.REFUSED and getattr(failure, "error_code", "") == BUSY
        is_repeated = (
            is_busy
            or kind is Kind.CONNECT
            or (kind is Kind.CUT_OFF and self.idempotent)
            or (kind is Kind.TIMEOUT and self.on_timeout)
        )
        if not is_repeated or made >= (self.busy_attempts if is_busy else self.attempts):
            return None
        if retry_after and retry_after.isascii() and retry_after.isdigit():
            return min(5.0, float(retry_after))
        return 0.05 * 2.0 ** (made - 1) * jitter.uniform(0.5, 1.5)


Retries.NONE = Retries()
Retries.SAFE = Retries(3, 10)
Retries.IDEMPOTENT = Retries(3, 10, idempotent=True)
#: A retry after these failures may repeat work in the service; each batch bounds their number.
MAY_REPEAT_WORK = frozenset({Kind.CUT_OFF, Kind.TIMEOUT})


@dataclass(frozen=True)
class Limits:
    """The bounds of a batch."""

    in_flight: int = 64
    """Maximum number of calls in stage C at once."""
    queue: int = 16
    """Maximum number of outcomes that wait to be taken, in addition to the calls in progress."""
    per_call_s: float = 30.0
    """Seconds from the begin of an attempt (C) to the last byte of its answer."""
    whole_s: float | None = None
    """Seconds for the whole batch, None for no limit; unfinished calls are then cancelled."""
    max_answer_bytes: int = 64 << 20
    retries: Retries = Retries.NONE
    ordered: bool = False
    """Whether outcomes are delivered in the order of the inputs."""

    def __post_init__(self) -> None:
        """Raises ValueError where a limit is out of range."""
        within("in_flight", self.in_flight, MOST)
        within("queue", self.queue, MOST)
        within("max_answer_bytes", self.max_answer_bytes, 2**31 - 1)
        for name, seconds in (("per_call_s", self.per_call_s), ("whole_s", self.whole_s)):
            if seconds is not None and not 0 < seconds <= DAY_S:
                raise ValueError(f"{name}: must be more than 0 and at most 1 day, is {seconds}")


class StageTimes(NamedTuple):
    """The times of one call, in seconds.

    `begun` to `ended` are moments since the begin of the batch (None: not reached). `s`, `c`, `d`
    and `p` are the durations of the stages; `c` is the sum over all attempts.
    """

    begun: float
    sent: float | None
    """Moment at which the last attempt began."""
    answered: float | None
    ended: float
    s: float
    c: float
    d: float
    p: float
    status: int | None
    """HTTP status of the last answer."""
    server_timing: str | None
    """Header Server-Timing of the last answer."""


@dataclass(frozen=True)
class Ended:
    """What every outcome has: the number of the call, from 0, its attempts and its times."""

    index: int
    attempts: int
    times: StageTimes


@dataclass(frozen=True)
class Done(Ended, Generic[R]):
    """A call that completed all stages."""

    result: R


@dataclass(frozen=True)
class Failed(Ended):
    """A call that failed in a stage."""

    stage: Stage
    kind: Kind
    cause: BaseException
    """Its traceback is kept for the kind USER only, and keeps the call's input in memory."""

    @property
    def error_code(self) -> str | None:
        """The three digits of the service's error; None where the failure has another kind."""
        if self.kind is Kind.REFUSED and isinstance(self.cause, ServiceRefused):
            return self.cause.error_code
        return None


class Cancelled(Ended):
    """A call that the end of its batch interrupted."""


Outcome: TypeAlias = Done[R] | Failed | Cancelled


@dataclass(frozen=True)
class Totals:
    """Totals of a batch up to now. Times are in seconds."""

    elapsed_s: float
    wall_s: Mapping[Stage, float]
    """Sum over all calls, by stage."""
    cpu_s: Mapping[Stage, float]
    """CPU time of the threads that ran a stage; 0 for C where no thread waits for a single call."""
    peak_in_flight: int
    attempts: int
    retries: int
    peak_threads: Mapping[str, int]
    """Maximum number of threads at once, by thread name without its number."""
