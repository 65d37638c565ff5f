"""A limit on how many run at once, first come first served."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Lock

from .faults import AbandonedError
from .job import Job


class Gate:
    """Lets `permits` in at a time; the others wait in order of arrival. Jobs that wait for other
    things than a core have permits of their own.

    threading.Semaphore would let a newcomer overtake those who wait, and only threads could wait.
    """

    def __init__(self, permits: int, of_blocking: int = sys.maxsize) -> None:
        """At least 1 each; by default any number of the others runs at once."""
        self.permits = permits
        self._guard = Lock()
        self._free = {False: permits, True: of_blocking}
        self._waiting = {each: deque[Callable[[], bool]]() for each in self._free}

    def enter(self, job: Job, turn: Callable[[], bool]) -> bool:
        """Whether there is a permit for the job.

        Otherwise `turn` is called when one is, by who gives it; it says whether it takes it.
        """
        is_blocking = job.workload.is_blocking
        with self._guard:
            if self._free[is_blocking]:
                self._free[is_blocking] -= 1
                return True
            self._waiting[is_blocking].append(turn)
            return False

    def enter_later(
        self, job: Job, begin: Callable[[Job, "Future[bytes]"], None]
    ) -> "Future[bytes]":
        """The answer of a job that no thread waits for: `begin` is called with both once there is a
        permit, now or by who gives it, and what it raises is the answer; AbandonedError where the
        job's client has not waited so long.
        """
        answer: Future[bytes] = Future()

        def has_begun() -> bool:
            try:
                begin(job, answer)
            except Exception as error:  # it is wrong, or there is no process or thread for it
                answer.set_exception(error)
                return False
            return True

        def turn() -> bool:
            if job.is_wanted():
                return has_begun()
            answer.set_exception(AbandonedError())
            return False

        if self.enter(job, turn) and not has_begun():
            self.leave(job)
        return answer

    def leave(self, job: Job) -> None:
        """Give the job's permit to who waits longest and still wants it."""
        is_blocking = job.workload.is_blocking
        while True:
            with self._guard:
                if not self._waiting[is_blocking]:
                    self._free[is_blocking] += 1
                    return
                turn = self._waiting[is_blocking].popleft()
            if turn():
                return

    @contextmanager
    def entered(self, job: Job) -> Iterator[None]:
        """Hold a permit in the with-block; the calling thread waits for it.

        Raises AbandonedError when the client does not wait any more once it is our turn: what
        clients that are gone have left in the queue costs those who are here no time. Who did not
        have to wait is not asked: to look at a socket gives the interpreter lock away.
        """
        lock = Lock()
        lock.acquire()

        def turn() -> bool:
            lock.release()
            return True

        had_to_wait = not self.enter(job, turn)
        if had_to_wait:
            lock.acquire()
        try:
            if had_to_wait and not job.is_wanted():
                raise AbandonedError
            yield
        finally:
            self.leave(job)
