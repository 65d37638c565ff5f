"""The seam between a request and how it is executed."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from ..workloads.workload import Body, Loop, Workload
from .clock import StageClock


class Strategy(Protocol):
    """An execution technique: decides where the stages run and how loops are cut."""

    @property
    def name(self) -> str:
        """The last part of the path."""

    @property
    def key(self) -> str | None:
        """The study's name for it, None where it has none."""

    @property
    def description(self) -> str:
        """One sentence."""

    def execute(self, workload: Workload[Any, Any], body: bytes, clock: StageClock) -> bytes:
        """The response body. Raises what a stage raises, and WorkerDiedError."""

    def await_ready(self) -> None:
        """Return when its processes are ready, if it has some. Raises PoolFailedError."""

    def close(self) -> None:
        """End what the strategy keeps running."""


class InOrderLoop:
    """Units one after the other, uncut, in the caller; arrays are ordinary memory."""

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
        """See Loop."""
        return np.empty(shape, dtype)

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:  # noqa: ARG002 - uncut
        """See Loop."""
        body(0, units, *arguments)


def run_stages(workload: Workload[Any, Any], body: bytes, loop: Loop, clock: StageClock) -> bytes:
    """The bracket every strategy runs, in whatever thread or process: parse, compute, serialize."""
    with clock.stage("parse"):
        value = workload.parse(body)
    with clock.stage("compute"):
        result = workload.compute(value, loop)
    with clock.stage("serialize"):
        return workload.serialize(result)
