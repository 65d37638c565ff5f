"""What a trace's experiment says beyond its cells: how long each is looked at, at what rate, what
is broken meanwhile, and which claims its verdicts decide."""

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
    """What is done to the database while a trace goes on: a control of the verdicts."""

    kind: FaultKind
    """`hold-snapshot`: a transaction that reads nothing more stays open, so that vacuum may remove
    no row that was deleted after it began."""
    begin: Share
    """As a share of the trace; so is the end."""
    end: Share

    @model_validator(mode="after")
    def _ends_later(self) -> Self:
        if self.end <= self.begin:
            raise ValueError("need begin < end")
        return self


class TraceRun(Strict):
    """How the cells that `where` selects are looked at."""

    where: Where = Where()
    duration_s: dict[str, Annotated[float, Field(ge=20)]]
    """By profile."""
    warm_s: Above0 = 5.0
    """At its own load before it: what a fresh service owes at the begin is no course of its."""
    rate_per_s: Above0 | None = None
    """Requests at the moments of a schedule; without it each user waits for its answer."""
    arrivals: ArrivalProcess = "poisson"
    fault: Fault | None = None


class TraceClaim(Strict):
    """What is claimed of the course of one cell."""

    id: str
    text: str
    where: Where
    expect: Steadiness
    least_s: Above0 = 1800.0
    """What is shorter does not decide it."""


class Trace(DriverTable):
    """One long uninterrupted load on each cell."""

    runs: Annotated[list[TraceRun], Field(min_length=1)]
    """A cell has the first that selects it."""
    claims: list[TraceClaim] = Field(default_factory=list)

    def run_of(self, cell: Cell) -> TraceRun:
        """How a cell is looked at; ValueError where no run selects it."""
        found = next((each for each in self.runs if each.where.matches(cell)), None)
        if found is None:
            raise ValueError(f"trace.runs: none selects cell '{cell.id}'")
        return found

    def require(self, asked: Demand) -> None:
        """ValueError where a cell of a profile has no duration, or one with a fault no database."""
        for profile, cell in asked.measured:
            if profile not in self.run_of(cell).duration_s:
                raise ValueError(f"trace.runs: duration_s of '{cell.id}' has no '{profile}'")
        for cell in asked.cells:
            if self.run_of(cell).fault and cell.technique in ("none", "memory"):
                raise ValueError(f"trace.runs: fault: '{cell.id}' has no database")
