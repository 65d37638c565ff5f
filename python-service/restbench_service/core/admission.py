"""How many requests may be in flight, and how much memory they may hold together.

Both refuse instead of letting wait: a request that waits would hold what it has already.
"""

from collections.abc import Callable
from threading import Lock

from .metrics import unseen
from .reply import RequestRefused


class Admission:
    """Counts the requests in flight."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._guard = Lock()
        self.in_flight = 0
        self.changed: Callable[[float], None] = unseen
        """Is given the new number, one change after the other."""

    def enter(self) -> None:
        """Count one more. Raises RequestRefused 008 at the limit."""
        with self._guard:
            if self.in_flight >= self._limit:
                raise RequestRefused("008", "the service is at its limit of requests in flight")
            self.in_flight += 1
            self.changed(self.in_flight)

    def leave(self) -> None:
        """It is answered."""
        with self._guard:
            self.in_flight -= 1
            self.changed(self.in_flight)


class MemoryBudget:
    """Bytes that requests hold, never more in all than the limit."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._guard = Lock()
        self.held_bytes = 0
        self.changed: Callable[[float], None] = unseen
        """Is given the new number, one change after the other."""

    def change(self, before_bytes: int, after_bytes: int) -> None:
        """Replace one hold's bytes. Raises RequestRefused 008.

        A hold that is the only one may have any size, or an answer larger than the whole budget
        could never be given.
        """
        with self._guard:
            others_bytes = self.held_bytes - before_bytes
            total_bytes = others_bytes + after_bytes
            if after_bytes > before_bytes and others_bytes and total_bytes > self.limit_bytes:
                raise RequestRefused(
                    "008", "the requests in flight hold the memory that this one needs"
                )
            self.held_bytes = total_bytes
            self.changed(total_bytes)


class Hold:
    """What one request holds of a budget."""

    __slots__ = ("_budget", "_is_over", "size_bytes")

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget, self.size_bytes = budget, 0
        self._is_over = False

    def resize(self, size_bytes: int) -> None:
        """Hold so many bytes in all. Raises RequestRefused 008, and the hold stays as it was;
        RuntimeError after let_go(), as nobody would give these bytes back."""
        if self._is_over:
            raise RuntimeError("memory was asked for after its request was over")
        if size_bytes != self.size_bytes:
            self._budget.change(self.size_bytes, size_bytes)
            self.size_bytes = size_bytes

    def let_go(self) -> None:
        """Hold nothing any more; once more does nothing."""
        if not self._is_over:
            self.resize(0)
            self._is_over = True
