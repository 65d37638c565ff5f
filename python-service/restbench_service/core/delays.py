"""The delays that requests ask for: response time without work.

A waiting request holds its place in flight and its body, but no gate and no thread or process of a
pool. All waits end when the service stops.
"""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock
from time import perf_counter_ns

from .metrics import unseen
from .reply import RequestRefused

TOO_MANY = "the service is at its limit of requests that wait for their delay"


class Delays:
    """The waits of one process: at most half as many as requests may be in flight."""

    def __init__(self, max_in_flight: int) -> None:
        self._most = max(1, max_in_flight // 2)
        self._guard = Lock()
        self._waits: set[Delay] = set()
        self._is_stopping = False
        self.changed: Callable[[float], None] = unseen
        """Called with each new number of waiting requests, in order."""

    @property
    def waiting(self) -> int:
        """The number of requests that wait now."""
        return len(self._waits)

    def begin(self, asked_ms: int) -> "Delay":
        """Begin a wait. Raises RequestRefused 008 at the limit of waiting requests."""
        delay = Delay(asked_ms, self._leave)
        with self._guard:
            if self._is_stopping or not asked_ms:
                delay.over.set_result(None)
                return delay
            if len(self._waits) >= self._most:
                raise RequestRefused("008", TOO_MANY)
            self._waits.add(delay)
            self.changed(len(self._waits))
        return delay

    def stop(self) -> None:
        """End all waits; later ones are over at once."""
        with self._guard:
            self._is_stopping = True
            for each in tuple(self._waits):
                self._waits.discard(each)
                each.over.set_result(None)
            self.changed(0)

    def _leave(self, delay: "Delay") -> None:
        with self._guard:
            if delay in self._waits:
                self._waits.discard(delay)
                self.changed(len(self._waits))


class Delay:
    """The wait of one request; never shorter than asked, unless the service stops."""

    __slots__ = ("_begun_ns", "_ends_ns", "_leave", "over")

    def __init__(self, asked_ms: int, leave: "Callable[[Delay], None]") -> None:
        self._begun_ns = perf_counter_ns()
        self._ends_ns = self._begun_ns + asked_ms * 1_000_000
        self._leave = leave
        self.over: Future[None] = Future()
        """Done if the wait was ended early or has no length; time alone does not complete it."""

    @property
    def left_s(self) -> float:
        """Seconds until the wait is over; 0 if it is over."""
        if self.over.done():
            return 0.0
        return max(0, self._ends_ns - perf_counter_ns()) / 1e9

    def wait(self) -> None:
        """Block the calling thread until the wait is over."""
        while left_s := self.left_s:
            with suppress(TimeoutError):
                self.over.result(left_s)

    def end(self) -> float:
        """Release the place of the wait. Returns the milliseconds since the wait began."""
        self._leave(self)
        return (perf_counter_ns() - self._begun_ns) / 1e6
