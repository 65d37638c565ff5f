"""Limits on the requests in flight and on the memory that they hold together.

Beyond a limit a request is refused: if it waited, it would keep the memory that it already holds.
"""

from collections.abc import Callable
from threading import Lock

from .metrics import unseen
from .reply import NO_MEMORY, RequestRefused


class Admission:
    """Counts the requests in flight."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._guard = Lock()
        self.in_flight = 0
        self.changed: Callable[[float], None] = unseen
        """Called with each new number of requests in flight, in order."""

    def enter(self) -> None:
        """Count one more. Raises RequestRefused 008 at the limit."""
        with self._guard:
            if self.in_flight >= self._limit:
                raise RequestRefused("008", "the service is at its limit of requests in flight")
            self.in_flight += 1
            self.changed(self.in_flight)

    def leave(self) -> None:
        """Count one less: a request is answered."""
        with self._guard:
            self.in_flight -= 1
            self.changed(self.in_flight)


class MemoryBudget:
    """The bytes that requests hold: at most the limit in total, unless there is only one hold."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._guard = Lock()
        self.held_bytes = 0
        self.changed: Callable[[float], None] = unseen
        """Called with each new number of held bytes, in order."""

    def change(self, before_bytes: int, after_bytes: int) -> None:
        """Change the size of one hold. Raises RequestRefused 008 beyond the limit.

        A hold that is the only one may have any size; otherwise an answer larger than the whole
        budget could never be sent.
        """
        with self._guard:
            others_bytes = self.held_bytes - before_bytes
            total_bytes = others_bytes + after_bytes
            if after_bytes > before_bytes and others_bytes and total_bytes > self.limit_bytes:
                raise RequestRefused("008", NO_MEMORY)
            self.held_bytes = total_bytes
            self.changed(total_bytes)


class Hold:
    """The part of a budget that one request, or one workload for its cache, holds."""

    __slots__ = ("_budget", "size_bytes")

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget, self.size_bytes = budget, 0

    def resize(self, size_bytes: int) -> None:
        """Hold `size_bytes` in all. Raises RequestRefused 008 beyond the limit and keeps the old
        size."""
        if size_bytes != self.size_bytes:
            self._budget.change(self.size_bytes, size_bytes)
            self.size_bytes = size_bytes
