"""What a call is made of: its steps S, C, D and P, what bounds them, and how it ends."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

I = TypeVar("I")  # noqa: E741 - what is asked
O = TypeVar("O")  # noqa: E741 - what is answered
R = TypeVar("R")
I_contra = TypeVar("I_contra", contravariant=True)
O_co = TypeVar("O_co", covariant=True)

#: The service is at its limit: the same call may be sent again.
BUSY = "008"
MOST = 100_000
DAY_S = 86_400.0


def within(name: str, value: int, most: int) -> int:
    """A number from 1 to `most`; ValueError with its name and the range."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise ValueError(f"{name}: must be from 1 to {most}, is {value}")
    return value


class Stage(StrEnum):
    """Serialise, call, deserialise, process."""

    S = "S"
    C = "C"
    D = "D"
    P = "P"


class Kind(StrEnum):
    """What a failed call met."""

    CONNECT = "CONNECT"
    """There was no connection."""
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
    """The caller's own code threw, or a codec something undeclared."""


@dataclass(frozen=True)
class Answer:
    """What came back; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class MatrixProduct:
    """rows[i][j] of the product."""

    request_id: str
    rows: list[list[int]]


class ExchangeFailure(Exception):
    """There is no answer: CONNECT, TIMEOUT, CUT_OFF, NOT_HTTP or TOO_LARGE."""

    def __init__(self, kind: Kind, message: str) -> None:
        """Of one kind, with what the transport said."""
        super().__init__(message)
        self.kind = kind


class Stopped(Exception):
    """The batch was cancelled."""


class ServiceRefused(Exception):
    """The service answered with an error: three digits, its words, and the id where it knew it."""

    kind = Kind.REFUSED

    def __init__(self, error_code: str, message: str, request_id: str | None = None) -> None:
        """What the error says."""
        super().__init__(message)
        self.error_code = error_code
        self.request_id = request_id


class MalformedAnswer(Exception):
    """Neither a result nor an error of the contract."""

    kind = Kind.MALFORMED


class Codec(Protocol[I_contra, O_co]):
    """S and D. Pure: many threads at once use one."""

    def encode(self, given: I_contra) -> bytes:
        """The message of an input; any exception is this call's failure in S."""

    def decode(self, answer: Answer) -> O_co:
        """What an answer says; ServiceRefused or MalformedAnswer."""


Processor: TypeAlias = Callable[[int, I, O], R]
"""P: of a call's index, its input and its output."""
#: C without a thread: of a message, a deadline of time.monotonic() and the most bytes of an answer,
#: the answer to come. ExchangeFailure; to cancel it closes the connection.
AsyncSend: TypeAlias = Callable[[bytes, float, int], Awaitable[Answer]]


@dataclass(frozen=True)
class Job(Generic[I, O, R]):
    """What is to be done with each input. The exchange is of the kind that the strategy needs."""

    codec: Codec[I, O]
    exchange: object
    process: Processor[I, O, R]


@dataclass(frozen=True)
class Retries:
    """Which failures are sent again, and when. Safe for any call are a refused connection and 008:
    nothing was done."""

    NONE: ClassVar[Retries]
    SAFE: ClassVar[Retries]
    """Those that are safe for any call."""
    IDEMPOTENT: ClassVar[Retries]
    """Those of calls that may be done twice."""

    attempts: int = 1
    """Of a call in all, 1 to 100."""
    busy_attempts: int = 1
    """The same where the service answers 008."""
    idempotent: bool = False
    """Whether doing a call twice does no harm: one that was cut off is repeated as well."""
    on_timeout: bool = False
    seed: int = 0
    """Of the waits' jitter."""

    def __post_init__(self) -> None:
        """ValueError with the name and the range."""
        within("attempts", self.attempts, 100)
        within("busy_attempts", self.busy_attempts, 100)

    def wait_s(
        self, failure: Exception, made: int, retry_after: str | None, jitter: random.Random
    ) -> float | None:
        """Seconds until the next attempt; None where there is none."""
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
#: Sending again after these may do work twice: such retries have a budget.
MAY_REPEAT_WORK = frozenset({Kind.CUT_OFF, Kind.TIMEOUT})


@dataclass(frozen=True)
class Limits:
    """The bounds of a batch."""

    in_flight: int = 64
    """Calls between sending and answer at once."""
    queue: int = 16
    """Outcomes that wait to be taken, beyond the calls under way."""
    per_call_s: float = 30.0
    """From the begin of C to the last byte of the answer."""
    whole_s: float | None = None
    """Of the batch; what is left then is cancelled."""
    max_answer_bytes: int = 64 << 20
    retries: Retries = Retries.NONE
    ordered: bool = False
    """Whether outcomes come in the order of the inputs."""

    def __post_init__(self) -> None:
        """ValueError with the name and the range."""
        within("in_flight", self.in_flight, MOST)
        within("queue", self.queue, MOST)
        within("max_answer_bytes", self.max_answer_bytes, 2**31 - 1)
        for name, seconds in (("per_call_s", self.per_call_s), ("whole_s", self.whole_s)):
            if seconds is not None and not 0 < seconds <= DAY_S:
                raise ValueError(f"{name}: must be more than 0 and at most 1 day, is {seconds}")


class StageTimes(NamedTuple):
    """When a call was where, in seconds since its batch began (None: never), and how long its
    stages took; C is the sum of its attempts."""

    begun: float
    sent: float | None
    """Begin of the last attempt."""
    answered: float | None
    ended: float
    s: float
    c: float
    d: float
    p: float
    status: int | None
    """Of the last answer."""
    server_timing: str | None


@dataclass(frozen=True)
class Done(Generic[R]):
    """A call that went through all stages."""

    index: int
    attempts: int
    times: StageTimes
    result: R


@dataclass(frozen=True)
class Failed:
    """A call that failed in a stage."""

    index: int
    attempts: int
    times: StageTimes
    stage: Stage
    kind: Kind
    cause: BaseException

    @property
    def error_code(self) -> str | None:
        """Three digits, None unless the service refused."""
        if self.kind is Kind.REFUSED and isinstance(self.cause, ServiceRefused):
            return self.cause.error_code
        return None


@dataclass(frozen=True)
class Cancelled:
    """The batch ended before the call did."""

    index: int
    attempts: int
    times: StageTimes


Outcome: TypeAlias = Done[R] | Failed | Cancelled


@dataclass(frozen=True)
class Totals:
    """What a batch took so far."""

    elapsed_s: float
    wall_s: Mapping[Stage, float]
    cpu_s: Mapping[Stage, float]
    """Of the threads that ran a stage; 0 where none was held."""
    peak_in_flight: int
    attempts: int
    retries: int
    peak_threads: Mapping[str, int]
    """Most at once, by name without number."""
