"""How many requests are here, and how many were a moment ago."""

from threading import Lock
from time import monotonic

PERIOD_SECONDS = 1.0
"""What was longer ago than two of these is forgotten, what was within one is known."""


class InFlight:
    """Who was here a moment ago is expected back: clients read their answers and ask again."""

    def __init__(self) -> None:
        """Nobody is, and was."""
        self.now = 0
        self._guard = Lock()
        self._most = self._most_before = 0
        self._ends = 0.0

    @property
    def recently(self) -> int:
        """The most that were here at once in this period and the one before."""
        with self._guard:
            self._turn()
            return max(self._most, self._most_before)

    def arrived(self) -> None:
        """One more."""
        with self._guard:
            self._turn()
            self.now += 1
            self._most = max(self._most, self.now)

    def left(self) -> None:
        """One less."""
        with self._guard:
            self._turn()
            self.now -= 1

    def _turn(self) -> None:
        """Begin a new period when it is time to; nobody came or went since the last look."""
        time = monotonic()
        if time >= self._ends:
            self._most_before = self._most if time < self._ends + PERIOD_SECONDS else self.now
            self._most = self.now
            self._ends = time + PERIOD_SECONDS - (time - self._ends) % PERIOD_SECONDS
