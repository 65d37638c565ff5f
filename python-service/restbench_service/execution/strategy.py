"""The seam between a request and how it is executed."""

from collections.abc import Mapping
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

    def facts(self) -> Mapping[str, Any]:
        """What GET /health tells about how it decides; nothing where it decides nothing."""

    def decisions(self) -> Mapping[str, int]:
        """How often it has decided for what, for GET /metrics."""

    def await_ready(self) -> None:
        """Return when its processes are ready, if it has some. Raises PoolFailedError."""

    def close(self) -> None:
        """End what the strategy keeps running."""


class Fixed:
    """A technique that treats all requests alike."""

    def facts(self) -> Mapping[str, Any]:
        """See Strategy."""
        return {}

    def decisions(self) -> Mapping[str, int]:
        """See Strategy."""
        return {}


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
    result = compute(workload, parse(workload, body, clock), loop, clock)
    return serialize(workload, result, clock)


def parse(workload: Workload[Any, Any], body: bytes, clock: StageClock) -> Any:
    """The first stage alone."""
    with clock.stage("parse"):
        return workload.parse(body)


def compute(workload: Workload[Any, Any], value: Any, loop: Loop, clock: StageClock) -> Any:
    """The second stage alone."""
    with clock.stage("compute"):
        return workload.compute(value, loop)


def serialize(workload: Workload[Any, Any], result: Any, clock: StageClock) -> bytes:
    """The third stage alone."""
    with clock.stage("serialize"):
        return workload.serialize(result)
