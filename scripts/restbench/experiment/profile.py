"""A profile of an experiment: how much time a run has, and what it spends it on."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from restbench.experiment.cell import Cell, ServiceName
from restbench.experiment.selection import Above0, Positive, Strict, Where
from restbench.failures import BadConfiguration

#: From here on a run is long: at least so many blocks, and cells of slow rounds are measured too,
#: up to a second a minute.
LONG_MINUTES = 60.0
LONG_BLOCKS = 5
LONG_SLOW_ROUND_S = 5.0


class Profile(Strict):
    """How long and how often cells are measured (method, rules 3, 6 and 13)."""

    description: str = ""
    minutes: Above0
    """What a run takes, all blocks together."""
    blocks: Positive
    """How many blocks it has at least; each has fresh services."""
    blocks_max: Positive | None = None
    """How many at most, as long as a claim is undecided and there is time; else `blocks`."""
    block_minutes: Above0 | None = None
    """How long one takes; the planned ones share the time, if not given. Many short ones say more
    than few long ones, as long as most of each is trials."""
    warm_max_s: dict[ServiceName, Annotated[float, Field(ge=0)]]
    """How long a fresh service is warmed up at most; its compilers may be quiet before."""
    slow_round_s: Above0 = 2.0
    """A cell whose users take longer to be answered once each has a trial or two a run."""
    longest_round_s: Above0 = 10.0
    """One whose users take longer than this has none, unless it is in the study's tables."""
    only: list[Where] = Field(default_factory=list)
    """Where it is not empty: the profile measures the cells that any of these selects."""
    windows: list[Where] = Field(default_factory=list)
    """The cells that have a long window besides, with sar and JMeter's dashboard (rule 13)."""
    window_s: Above0 = 10.0

    @model_validator(mode="after")
    def _blocks_can_grow(self) -> Self:
        if self.most_blocks < self.blocks:
            raise ValueError("need blocks <= blocks_max")
        return self

    def lasting(self, minutes: float) -> Profile:
        """The same in so much time: blocks as long as they are here, at least as many, and more as
        long as there is time. In an hour slow cells have trials too."""
        if minutes <= 0:
            raise BadConfiguration(f"--minutes {minutes:g}: give a time above 0")
        blocks = self.blocks if minutes < LONG_MINUTES else max(self.blocks, LONG_BLOCKS)
        block_minutes = min(self.block_s / 60, minutes / blocks)
        changed: dict[str, object] = {"minutes": minutes, "blocks": blocks}
        changed |= {"block_minutes": block_minutes}
        # A quotient that is whole must not fall short of it by rounding.
        changed |= {"blocks_max": max(blocks, int(minutes / block_minutes + 1e-9))}
        if minutes >= LONG_MINUTES:
            changed["slow_round_s"] = max(self.slow_round_s, LONG_SLOW_ROUND_S)
            changed["longest_round_s"] = max(self.longest_round_s, minutes)  # a second a minute
        return self.model_copy(update=changed)

    def measures(self, cell: Cell) -> bool:
        """Whether the cell belongs to this profile."""
        return not self.only or any(where.matches(cell) for where in self.only)

    def has_window(self, cell: Cell) -> bool:
        """Whether the cell has a long window besides its trials."""
        return any(where.matches(cell) for where in self.windows)

    @property
    def most_blocks(self) -> int:
        """The largest number of blocks that a run can have."""
        return self.blocks_max or self.blocks

    @property
    def block_s(self) -> float:
        """How long a block takes, in seconds."""
        return 60 * (self.block_minutes or self.minutes / self.blocks)
