"""A limit on how many run at once, first come first served."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from .clock import StageClock


class AbandonedError(Exception):
    """The client went away while its request waited for its turn."""


class Gate:
    """Lets `permits` threads in at a time; the others wait in order of arrival.

    threading.Semaphore would let a newcomer overtake those who wait. Here a permit is handed to
    the longest waiting thread, each of which waits on a lock of its own.
    """

    def __init__(self, permits: int) -> None:
        """`permits` is at least 1."""
        self._guard = Lock()
        self._free = permits
        self._waiting: deque[Lock] = deque()

    @property
    def is_free(self) -> bool:
        """Whether who came now would not have to wait."""
        return self._free > 0

    @contextmanager
    def entered(self, clock: StageClock) -> Iterator[None]:
        """Hold a permit in the with-block; the wait for it is the clock's queue.

        Raises AbandonedError when nobody waits for the answer any more once it is our turn: what
        clients that are gone have left in the queue costs those who are here no time. Who did not
        have to wait is not asked: to look at a socket gives the interpreter lock away.
        """
        with clock.stage("queue"):
            had_to_wait = self._acquire()
        try:
            if had_to_wait and not clock.is_wanted():
                raise AbandonedError
            yield
        finally:
            self.leave()

    def try_enter(self) -> bool:
        """Take a permit that is free, if there is one; leave() gives it back."""
        with self._guard:
            if self._free:
                self._free -= 1
                return True
            return False

    def _acquire(self) -> bool:
        """Whether it took a wait."""
        with self._guard:
            if self._free:
                self._free -= 1
                return False
            turn = Lock()
            turn.acquire()
            self._waiting.append(turn)
        turn.acquire()
        return True

    def leave(self) -> None:
        """Give a permit to who waits longest for one."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1
