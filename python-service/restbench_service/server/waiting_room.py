"""Connections that wait for their client, watched by the server's loop until a deadline."""

import selectors
from collections.abc import Callable
from time import monotonic

from .connection import Connection

SWEEP_SECONDS = 0.25
"""Between two looks at all deadlines: one would cost more than most requests do."""

IDLE_SECONDS = 2.0
"""A connection that was used since then may have its client's next request on the way."""


class WaitingRoom:
    """The connections on the loop's selector, in the order they came here.

    Used by the loop's thread alone.
    """

    def __init__(
        self, selector: selectors.BaseSelector, on_readable: Callable[[Connection], None]
    ) -> None:
        """`on_readable` is called with a connection whose client has sent, or gone."""
        self._selector = selector
        self._on_readable = on_readable
        self._waiting: dict[Connection, None] = {}
        self._next_sweep = 0.0

    def __contains__(self, connection: Connection) -> bool:
        """Whether it waits here."""
        return connection in self._waiting

    def enter(self, connection: Connection, deadline: float) -> None:
        """Wait for the client until the deadline, on the monotonic clock."""
        connection.waits_since, connection.deadline = monotonic(), deadline
        self._waiting[connection] = None
        self._selector.register(connection, selectors.EVENT_READ, self._on_readable)

    def leave(self, connection: Connection) -> None:
        """No longer."""
        del self._waiting[connection]
        self._selector.unregister(connection)

    def longest_idle(self) -> Connection | None:
        """The one that has been idle for longest, if that is long enough to be closed."""
        idle = next((each for each in self._waiting if each.is_idle), None)
        is_long = idle is not None and monotonic() - idle.waits_since >= IDLE_SECONDS
        return idle if is_long else None

    def expired(self) -> list[Connection]:
        """Those whose deadline has passed; a few moments late, and empty in between."""
        now = monotonic()
        if now < self._next_sweep:
            return []
        self._next_sweep = now + SWEEP_SECONDS
        return [each for each in self._waiting if each.deadline <= now]

    def everyone(self) -> list[Connection]:
        """All that wait."""
        return list(self._waiting)

    def no_later_than(self, deadline: float) -> None:
        """Bring every deadline forward."""
        for each in self._waiting:
            each.deadline = min(each.deadline, deadline)
