"""What an open-load run leaves on disk, as models: `walk.json` a cell, `step.json` a step."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from restbench.experiment.arrivals import Phases
from restbench.experiment.cell import Cell, Shape
from restbench.experiment.records import SCHEMA_VERSION, Before, Record


class OpenStep(Record):
    """One rate, offered once. Its schedule and its samples lie beside it."""

    schema_version: int = SCHEMA_VERSION
    cell: Cell
    number: int
    rate_per_s: float
    warmup_s: float
    window_s: float
    tail_s: float
    seed: tuple[int, ...]
    """Of the schedule (`arrivals.schedule`)."""
    before: Before
    ended: Literal["by-itself", "killed"]
    """`killed`: requests in flight did not end in time; they count as unsent, as the rest does."""
    load_cpu_pct: float
    """What JMeter used of ONE core, from the schedule's start to its end."""
    command: str
    """JMeter's."""

    @property
    def phases(self) -> Phases:
        """The parts of the schedule."""
        return Phases(self.warmup_s, self.window_s, self.tail_s)


class Walk(Record):
    """The search for one cell's highest rate; written when it is over."""

    schema_version: int = SCHEMA_VERSION
    cell: Cell
    shape: Shape
    order: int
    status: Literal["walked", "failed"]
    reason: str | None = None
    """Why a walk failed, in words."""
    first_failure: str | None = None
    """The same of the first attempt, where there was a second: whatever came of that is here."""
    closed_per_s: float | None = None
    """Correct responses per second of the closed load that warmed the service up: where the walk
    started from, not a measurement."""
    out_of_time: bool = False
    """Whether the walk was ended by its bound on time."""
    service_cores: tuple[int, ...] = ()
    load_cores: tuple[int, ...] = ()
    commands: dict[str, str] = Field(default_factory=dict)
    flags: tuple[str, ...] = ()
