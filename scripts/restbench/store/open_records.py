"""What a step of an open load leaves on disk, as a model: `step.json` a step."""

from __future__ import annotations

from typing import Literal

from restbench.experiment.arrivals import Phases
from restbench.experiment.cell import Cell
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
