"""How many requests may be in flight."""

from threading import Lock

from .errors import RefusedError


class Admission:
    """Counts the requests in flight and refuses the one that would be too many."""

    def __init__(self, limit: int) -> None:
        """`limit` requests at once."""
        self._limit = limit
        self._guard = Lock()
        self._in_flight = 0

    @property
    def in_flight(self) -> int:
        """Requests admitted and not yet answered."""
        return self._in_flight

    def __enter__(self) -> None:
        """Count a request for the with-block. Raises RefusedError 008 at the limit."""
        with self._guard:
            if self._in_flight >= self._limit:
                raise RefusedError(
                    "008",
                    f"{self._limit} requests are in flight already, which is the limit "
                    "(RESTBENCH_MAX_IN_FLIGHT), retry later",
                )
            self._in_flight += 1

    def __exit__(self, *_: object) -> None:
        """It is answered."""
        with self._guard:
            self._in_flight -= 1
