"""A profile of an experiment: how long and how often each cell is measured."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Self

from pydantic import Field, model_validator

from restbench.experiment.cell import Cell, ServiceName
from restbench.experiment.selection import Positive, Strict, Where

#: The part of a turn that is left out: all users begin it at once, which a closed load forgets
#: within some response times.
LEFT_OUT = 0.2


class Turns(Where):
    """How the strategies of the cells that it selects take turns at one load (`turns`)."""

    turn_s: Annotated[float, Field(gt=0)]
    """One turn, of which the first part is left out. Long enough for a user to have many answers:
    all begin a turn at once."""
    measured_s: Annotated[float, Field(gt=0)]
    """What each strategy's turns add up to at least, without what is left out."""

    @property
    def seconds(self) -> float:
        """How long one strategy's turns take, with what is left out."""
        return self.measured_s / (1 - LEFT_OUT)


class Profile(Strict):
    """How long and how often each cell is measured (method, rules 3, 4 and 6)."""

    blocks: Positive
    """How many blocks are measured at least."""
    blocks_max: Positive | None = None
    """Where a precision is asked for: how many at most."""
    precision: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Relative half-width of every cell's interval at which no further block is measured."""
    service_warmup_s: dict[ServiceName, Annotated[float, Field(ge=0)]]
    """Load on each strategy of a fresh service process, before its first cell (a JVM compiles)."""
    practice_s: dict[ServiceName, Annotated[float, Field(ge=0, le=240)]] = Field(
        default_factory=dict
    )
    """Then of the load itself on each of them, with few users at once."""
    warmup_s: Annotated[float, Field(gt=0)]
    """Load on the cell itself, before its window opens."""
    warmup_max_s: Annotated[float, Field(gt=0)] | None = None
    """Where a user has had no answer by then, warm-up goes on until all had one, so long at most;
    if it is not given, no longer than `warmup_s`."""
    window_min_s: Annotated[float, Field(gt=0)]
    window_max_s: Annotated[float, Field(gt=0)]
    """A window with enough for a mean, but not `enough_completions`, is capped here: whatever ends
    it, it goes on to sar's next sample."""
    slow_window_max_s: Annotated[float, Field(gt=0)]
    """A window with too few completions even for a mean is capped here."""
    enough_completions: Positive
    only: list[Where] = Field(default_factory=list)
    """Where it is not empty: the profile measures the cells that any of these selects."""
    turns: list[Turns] = Field(default_factory=list)
    """Where it is not empty: cells that differ in nothing but their strategy are measured together,
    in turns. The first that selects a cell says how; the window's bounds are of all its turns."""
    description: str = ""

    @model_validator(mode="after")
    def _windows_grow(self) -> Self:
        if not self.window_min_s <= self.window_max_s <= self.slow_window_max_s:
            raise ValueError("need window_min_s <= window_max_s <= slow_window_max_s")
        if self.longest_warmup_s < self.warmup_s:
            raise ValueError("need warmup_s <= warmup_max_s")
        return self

    @model_validator(mode="after")
    def _blocks_can_grow(self) -> Self:
        if (self.precision is None) != (self.blocks_max is None):
            raise ValueError("precision and blocks_max go together: the goal and its bound")
        if self.blocks_max is not None and self.blocks_max < self.blocks:
            raise ValueError("need blocks <= blocks_max")
        return self

    def turns_of(self, cell: Cell) -> Turns | None:
        """How it takes turns with those that differ in nothing but their strategy; None where it
        has a load of its own."""
        return next((each for each in self.turns if each.matches(cell)), None)

    def measures(self, cell: Cell) -> bool:
        """Whether the cell belongs to this profile."""
        return not self.only or any(where.matches(cell) for where in self.only)

    def warm_seconds(self, cells: Collection[Cell]) -> float:
        """What it takes to warm up a fresh process for these cells, which share it."""
        (service,) = {cell.service for cell in cells}
        strategies = len({cell.strategy for cell in cells})
        return strategies * (self.service_warmup_s[service] + self.practice_s.get(service, 0.0))

    @property
    def longest_warmup_s(self) -> float:
        """How long a cell's warm-up can be."""
        return self.warmup_s if self.warmup_max_s is None else self.warmup_max_s

    @property
    def most_blocks(self) -> int:
        """The largest number of blocks that a run can have."""
        return self.blocks_max or self.blocks
