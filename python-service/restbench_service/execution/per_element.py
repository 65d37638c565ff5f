"""Each unit of a loop is a task for a process, the rest is the request's own thread."""

from concurrent.futures import Future
from contextlib import closing

from .gate import Gate
from .job import Job
from .shared_loop import SharedLoop
from .strategy import Strategy, completed
from .worker_pool import WorkerPool


class PerElement(Strategy):
    """One task an element, operands and product in memory that all processes see."""

    def __init__(self, pool: WorkerPool, running: int | None) -> None:
        """The pool is closed with the strategy. By default one request runs, as the pool does."""
        self._pool, self.gate = pool, Gate(running or 1)
        self.permits = self.gate.permits

    def execute(self, job: Job) -> "Future[bytes]":
        """See Strategy."""
        return completed(lambda: self._in_turn(job))

    def await_ready(self) -> None:
        """See Strategy."""
        self._pool.await_ready()

    def close(self) -> None:
        """See Strategy."""
        self._pool.close()

    def _in_turn(self, job: Job) -> bytes:
        with self.gate.entered(job), closing(SharedLoop(self._pool)) as loop:
            return job.run(loop)
