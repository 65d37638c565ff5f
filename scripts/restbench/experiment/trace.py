"""The table [trace] of an experiment: how long each cell is loaded, at what rate, which fault is
injected meanwhile, and which claims the verdicts on the traces decide."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from restbench.experiment.cell import Cell
from restbench.experiment.drivers import Demand, DriverTable
from restbench.experiment.open_load import ArrivalProcess
from restbench.experiment.selection import Above0, Strict, Where

FaultKind = Literal["hold-snapshot"]
Steadiness = Literal["steady", "drifting", "oscillating"]
Share = Annotated[float, Field(ge=0, le=1)]


class Fault(Strict):
    """A fault that is injected into the database during a trace: a control of the verdicts."""

    kind: FaultKind
    """`hold-snapshot`: a transaction that reads nothing more stays open, so that vacuum may remove
    no row that was deleted after it began."""
    begin: Share
    """As a share of the trace's duration, like `end`."""
    end: Share

    @model_validator(mode="after")
    def _ends_later(self) -> Self:
        if self.end <= self.begin:
            raise ValueError("need begin < end")
        return self


class TraceRun(Strict):
    """How the cells that `where` selects are loaded."""

    where: Where = Where()
    duration_s: dict[str, Annotated[float, Field(ge=20)]]
    """The duration of a trace, by profile."""
    warm_s: Above0 = 5.0
    """Seconds of the same load before the trace, to leave out the start of a fresh service."""
    rate_per_s: Above0 | None = None
    """The rate of an open load; None: a closed load, in which users wait for their answers."""
    arrivals: ArrivalProcess = "poisson"
    fault: Fault | None = None


class TraceClaim(Strict):
    """A claim about the course of one cell."""

    id: str
    text: str
    where: Where
    expect: Steadiness
    least_s: Above0 = 1800.0
    """A shorter trace does not decide the claim."""


class Trace(DriverTable):
    """One long uninterrupted load on each cell."""

    runs: Annotated[list[TraceRun], Field(min_length=1)]
    """For each cell the first one that selects it applies."""
    claims: list[TraceClaim] = Field(default_factory=list)

    def run_of(self, cell: Cell) -> TraceRun:
        """How a cell is loaded. Raises ValueError where no run selects it."""
        found = next((each for each in self.runs if each.where.matches(cell)), None)
        if found is None:
            raise ValueError(f"trace.runs: none selects cell '{cell.id}'")
        return found

    def seconds_of(self, cell: Cell, profile: str) -> float:
        """How long a profile loads a cell, whatever the time of the run."""
        asked = self.run_of(cell)
        return asked.warm_s + asked.duration_s[profile]

    def require(self, asked: Demand) -> None:
        """Raises ValueError where a cell of a profile has no duration, or a cell with a fault has
        no database."""
        for profile, cell in asked.measured:
            if profile not in self.run_of(cell).duration_s:
                raise ValueError(f"trace.runs: duration_s of '{cell.id}' has no '{profile}'")
        for cell in asked.cells:
            if self.run_of(cell).fault and cell.technique in ("none", "memory"):
                raise ValueError(f"trace.runs: fault: '{cell.id}' has no database")
