"""PR: a request is done from its bytes to its bytes in one process of a pool."""

from typing import Any

from ..workloads.workload import Workload
from .clock import StageClock
from .gate import Gate
from .pool.pool import ProcessPool
from .pool.requests import Errand, ask
from .strategy import Fixed


class ProcessPerRequest(Fixed):
    """As many requests at once as there are processes, each from its bytes to its bytes."""

    name = "process-per-request"
    key = "PR"
    description = (
        "Each request is parsed, computed in order and serialized in one process of a pool."
    )

    def __init__(self, pool: ProcessPool, running: int | None) -> None:
        """The pool is closed with the strategy."""
        self._pool = pool
        self._gate = Gate(min(running or pool.size, pool.size))

    def execute(self, workload: Workload[Any, Any], body: bytes, clock: StageClock) -> bytes:
        """See Strategy."""
        with self._gate.entered(clock), self._pool.one(clock) as channel:
            return ask(channel, Errand(workload), body, clock)

    def await_ready(self) -> None:
        """See Strategy."""
        self._pool.await_ready()

    def close(self) -> None:
        """End the processes."""
        self._pool.close()
