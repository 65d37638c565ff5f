"""What an NPB run leaves on disk, as models: `npb.json` a measurement."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from restbench.experiment.cell import Cell
from restbench.experiment.records import SCHEMA_VERSION, Before, Record


class KernelRun(Record):
    """What a kernel answers for itself, in the service and without it (contract, NpbResult)."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")
    kernel: str
    npb_class: str = Field(alias="class")
    verified: bool
    value: float | tuple[tuple[float, float], ...]
    reference: float | tuple[tuple[float, float], ...]
    iterations: int
    kernel_seconds: float = Field(gt=0)
    """NPB's timed region, by the kernel's own clock."""
    total_seconds: float = Field(gt=0)
    """The same with the generation of its input."""
    mops: float
    """Millions of operations per second of the timed region, as NPB counts them."""


class ServedRun(Record):
    """One call of the service."""

    answer: KernelRun
    client_seconds: float
    """From before the request is sent until the whole answer is there."""

    @property
    def overhead_seconds(self) -> float:
        """What the call cost beside the kernel and its input."""
        return self.client_seconds - self.answer.total_seconds


class NpbRun(Record):
    """One measurement of one cell: a fresh process, the same one warm, and the warm service."""

    schema_version: int = SCHEMA_VERSION
    cell: Cell
    block: int
    order: int
    status: Literal["measured", "failed", "refused"]
    """`refused`: the service has less memory than the class needs; `reason` says how much."""
    reason: str | None = None
    first_failure: str | None = None
    """Of the first attempt, where there was a second."""
    before: Before | None = None
    kept: int
    """How many of the last runs, in the process and in the service, count as warm."""
    direct: tuple[KernelRun, ...] = ()
    """Runs of one process without HTTP, the first of them fresh."""
    served: tuple[ServedRun, ...] = ()
    """Calls of the service; none for a cell that only looks at the number of cores."""
    cores: tuple[int, ...] = ()
    """The service's, and those of the process without HTTP."""
    commands: dict[str, str] = Field(default_factory=dict)
    flags: tuple[str, ...] = ()
