"""A limit on the number of jobs that run at once; first come, first served."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Lock

from .faults import AbandonedError
from .job import Job


class Gate:
    """Lets `permits` jobs run at a time; other jobs wait in order of arrival. Jobs of blocking
    workloads, which wait for something other than a core, have separate permits.

    threading.Semaphore would let a new job overtake waiting jobs, and only threads could wait.
    """

    def __init__(self, permits: int, of_blocking: int = sys.maxsize) -> None:
        """`of_blocking` are the permits for blocking workloads. Both numbers are at least 1."""
        self.permits = permits
        self._guard = Lock()
        self._free = {False: permits, True: of_blocking}
        self._waiting = {each: deque[Callable[[], bool]]() for each in self._free}

    def enter(self, job: Job, turn: Callable[[], bool]) -> bool:
        """Take a permit for the job. Returns False if none is free.

        Then leave() calls `turn` once there is a permit; it returns whether the job takes it.
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
        """The answer of a job that no thread waits for. Once there is a permit, at once or in
        leave(), `begin` is called with the job and the answer, which it completes. The answer
        raises what `begin` raises, or AbandonedError if the client went away during the wait.
        """
        answer: Future[bytes] = Future()

        def has_begun() -> bool:
            try:
                begin(job, answer)
            except Exception as error:  # the request is wrong, or no process or thread takes it
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
        """Pass the job's permit to the job that has waited longest and still takes it, if any."""
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

        Raises AbandonedError if the client has gone when the thread gets the permit, so that jobs
        of clients that have gone cost no time. A job that did not have to wait is not checked,
        because looking at a socket releases the interpreter lock.
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
