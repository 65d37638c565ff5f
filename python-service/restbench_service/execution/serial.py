"""PS: the request's own thread does everything, one request at a time."""

from concurrent.futures import Future

from .gate import Gate
from .job import InOrderLoop, Job
from .strategy import Strategy, completed


class Serial(Strategy):
    """Sequential, in the one process of the service."""

    def __init__(self, running: int | None) -> None:
        """`running` requests at once; by default one, since the GIL lets one compute at a time."""
        self.gate = Gate(running or 1)
        self.permits = self.gate.permits

    def execute(self, job: Job) -> "Future[bytes]":
        """See Strategy."""
        return completed(lambda: self._in_turn(job))

    def _in_turn(self, job: Job) -> bytes:
        with self.gate.entered(job):
            return job.run(InOrderLoop())
