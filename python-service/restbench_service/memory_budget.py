"""How much memory requests may hold together."""

from threading import Lock
from typing import Self

from .errors import RefusedError


class MemoryBudget:
    """Bytes that requests say they hold, never more in all than the limit.

    It refuses instead of letting wait: who waits would hold what it has already.
    """

    def __init__(self, limit_bytes: int, variable: str) -> None:
        """`limit_bytes` for all holds together; the variable that sets it is for the message."""
        self._limit_bytes, self._variable = limit_bytes, variable
        self._guard = Lock()
        self._held_bytes = 0

    @property
    def held_bytes(self) -> int:
        """What is held now."""
        return self._held_bytes

    def hold(self, size_bytes: int = 0) -> "Hold":
        """Hold so many bytes in the with-block; more or fewer later through Hold.resize.

        Entering raises RefusedError 008 if they do not fit.
        """
        return Hold(self, size_bytes)

    def change(self, before_bytes: int, after_bytes: int) -> None:
        """Replace one hold's bytes. A hold that is the only one may have any size.

        Otherwise an answer larger than the whole budget could never be given. Raises RefusedError.
        """
        with self._guard:
            others_bytes = self._held_bytes - before_bytes
            total_bytes = others_bytes + after_bytes
            if after_bytes > before_bytes and others_bytes and total_bytes > self._limit_bytes:
                raise RefusedError(
                    "008",
                    f"requests hold {others_bytes} bytes of memory already, the limit is "
                    f"{self._limit_bytes} ({self._variable}), retry later",
                )
            self._held_bytes = total_bytes


class Hold:
    """What one request holds of a budget."""

    __slots__ = ("_at_first_bytes", "_budget", "_size_bytes")

    def __init__(self, budget: MemoryBudget, at_first_bytes: int) -> None:
        """Nothing before the with-block. Made by MemoryBudget.hold."""
        self._budget, self._at_first_bytes = budget, at_first_bytes
        self._size_bytes = 0

    def __enter__(self) -> Self:
        """Raises RefusedError 008."""
        self.resize(self._at_first_bytes)
        return self

    def __exit__(self, *_: object) -> None:
        """See let_go."""
        self.let_go()

    def let_go(self) -> None:
        """Hold nothing any more."""
        self.resize(0)

    def resize(self, size_bytes: int) -> None:
        """Hold so many bytes in all. Raises RefusedError 008; what was held stays held then."""
        if size_bytes != self._size_bytes:
            self._budget.change(self._size_bytes, size_bytes)
            self._size_bytes = size_bytes
