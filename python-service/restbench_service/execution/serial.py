"""PS: the request's own thread does everything, one request at a time."""

from typing import Any

from ..workloads.workload import Workload
from .clock import StageClock
from .gate import Gate
from .strategy import Fixed, InOrderLoop, run_stages


class Serial(Fixed):
    """Sequential, in the one process of the service."""

    name = "serial"
    key = "PS"
    description = (
        "The request's own thread does everything, one element after the other, in one process."
    )

    def __init__(self, running: int | None) -> None:
        """`running` requests at once; by default one, since the GIL lets one compute at a time."""
        self._gate = Gate(running or 1)

    def execute(self, workload: Workload[Any, Any], body: bytes, clock: StageClock) -> bytes:
        """See Strategy."""
        with self._gate.entered(clock):
            return run_stages(workload, body, InOrderLoop(), clock)

    def await_ready(self) -> None:
        """Nothing has to be started."""

    def close(self) -> None:
        """Nothing is kept running."""
