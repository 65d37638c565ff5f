"""A profile of an experiment: how much time a run has, and what it spends it on."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from restbench.experiment.cell import Cell, ServiceName
from restbench.experiment.selection import Above0, Strict, Where
from restbench.failures import BadConfiguration

#: A run of so many minutes or more is long: it has at least LONG_BLOCKS blocks, and also measures
#: slower cells, whose rounds take up to a second for each minute of the run.
LONG_MINUTES = 60.0
LONG_BLOCKS = 5
LONG_SLOW_ROUND_S = 5.0
#: A long run may have so many times its planned blocks. With three times, 4 % of simulated runs end
#: with a wrong verdict; with more evaluations it would be more (method, rule 6).
LONG_TIMES = 3
#: The longest time of a run: a week.
MOST_MINUTES = 7 * 24 * 60.0
#: The most blocks of a run: ten minutes each would take a week.
MOST_BLOCKS = 1_000
Blocks = Annotated[int, Field(ge=1, le=MOST_BLOCKS)]


def require_time(minutes: float) -> None:
    """Raises BadConfiguration where an option `--minutes` gives no time that a run can have."""
    if not 0 < minutes <= MOST_MINUTES:
        raise BadConfiguration(f"--minutes {minutes:g}: give a time above 0, at most a week")


class Profile(Strict):
    """How long and how often cells are measured (method, rules 3, 6 and 13)."""

    description: str = ""
    minutes: Annotated[float, Field(gt=0, le=MOST_MINUTES)]
    """The time of a run: all its blocks and long windows together."""
    blocks: Blocks
    """The planned number of blocks, each with fresh services; fewer where the time is short."""
    blocks_max: Blocks | None = None
    """The largest number of blocks. Blocks beyond the planned ones are measured as long as a claim
    is undecided and there is time. None: `blocks`."""
    block_minutes: Above0 | None = None
    """The duration of a block; None: the planned blocks share the time. Many short blocks say more
    than a few long ones, as long as trials take most of a block."""
    warm_max_s: dict[ServiceName, Annotated[float, Field(ge=0)]]
    """By service: the longest warm-up of a fresh service; it ends once compilers are quiet."""
    slow_round_s: Above0 = 2.0
    """A cell is slow if answering each of its users once takes longer than this: it has only a
    trial or two in a run."""
    longest_round_s: Above0 = 10.0
    """A cell for which that takes longer than this has no trial, unless it is in the study's
    tables."""
    only: list[Where] = Field(default_factory=list)
    """If not empty: the profile measures only cells that one of these selects."""
    windows: list[Where] = Field(default_factory=list)
    """The cells that also have a long window, with sar and JMeter's dashboard (rule 13)."""
    window_s: Above0 = 10.0

    @model_validator(mode="after")
    def _blocks_can_grow(self) -> Self:
        if self.most_blocks < self.blocks:
            raise ValueError("need blocks <= blocks_max")
        return self

    def lasting(self, minutes: float) -> Profile:
        """The profile for a run of so many minutes: at least as many blocks, as long as before or
        shorter, and more blocks as far as there is time. A long run (LONG_MINUTES) also measures
        slower cells. Raises BadConfiguration where `minutes` is no time (require_time)."""
        require_time(minutes)
        blocks = self.blocks if minutes < LONG_MINUTES else max(self.blocks, LONG_BLOCKS)
        block_minutes = min(self.block_s / 60, minutes / blocks)
        # A rounding error must not turn a whole quotient into the next smaller number.
        in_time = min(minutes / block_minutes + 1e-9, MOST_BLOCKS)
        changed: dict[str, object] = {"minutes": minutes, "blocks": blocks}
        changed |= {"block_minutes": block_minutes, "blocks_max": max(blocks, int(in_time))}
        if minutes >= LONG_MINUTES:
            changed["blocks_max"] = max(LONG_TIMES * blocks, int(in_time))
            changed["slow_round_s"] = max(self.slow_round_s, LONG_SLOW_ROUND_S)
            changed["longest_round_s"] = max(self.longest_round_s, minutes)  # a second a minute
        return self.model_copy(update=changed)

    def filling_its_time(self) -> Profile:
        """The profile with as many planned blocks as its time is for. It is for runs whose number
        of blocks no verdict decides: runs without claims, and comparisons of two builds."""
        in_time = min(60 * self.minutes / self.block_s + 1e-9, MOST_BLOCKS)
        blocks = max(self.blocks, int(in_time))
        return self.model_copy(update={"blocks": blocks, "blocks_max": blocks})

    def measures(self, cell: Cell) -> bool:
        """Whether the cell belongs to this profile."""
        return not self.only or any(where.matches(cell) for where in self.only)

    def has_window(self, cell: Cell) -> bool:
        """Whether the cell has a long window in addition to its trials."""
        return any(where.matches(cell) for where in self.windows)

    @property
    def most_blocks(self) -> int:
        """The largest number of blocks that a run can have."""
        return self.blocks_max or self.blocks

    @property
    def block_s(self) -> float:
        """How long a block takes, in seconds."""
        return 60 * (self.block_minutes or self.minutes / self.blocks)
