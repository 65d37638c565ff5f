"""How many blocks a precision needs: pure functions on what a pilot has measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import scipy  # its parts are loaded when they are first used

from restbench.experiment.statistics import CONFIDENCE, t_quantile
from restbench.schedule.stopping import largest_half_width

#: The stop rule's bounds (method, rule 6).
LEAST_BLOCKS, MOST_BLOCKS = 5, 20
#: A pilot of few blocks knows the spread badly. The likely number of blocks takes it as it is; the
#: cautious one takes the upper end of its one-sided interval at this level, as R. H. Browne (On the
#: use of a pilot sample for sample size determination, 1995) proposes: x 3.9 for 2 blocks, x 2.1
#: for 3, x 1.6 for 5.
CAUTION = 0.8
#: With fewer blocks the spread is nearly unknown.
FEW_BLOCKS = 3


@dataclass(frozen=True)
class Need:
    """What one cell's pilot says. `None`: more than MOST_BLOCKS."""

    cell_id: str
    blocks: int
    """Of the pilot."""
    spread: float
    """Standard deviation over the mean, between blocks."""
    likely: int | None
    cautious: int | None


def blocks_needed(spread: float, precision: float) -> int | None:
    """The smallest r from LEAST_BLOCKS to MOST_BLOCKS with t[.975; r-1] spread / sqrt(r) <= g/(1+g)
    (method, rule 6); None where none is enough."""
    allowed = largest_half_width(precision)
    for blocks in range(LEAST_BLOCKS, MOST_BLOCKS + 1):
        if half_width(spread, blocks) <= allowed:
            return blocks
    return None


def half_width(spread: float, blocks: int) -> float:
    """The relative half-width of the 95 % interval that so many blocks can be expected to give."""
    quantile = t_quantile((1 + CONFIDENCE) / 2, blocks - 1)
    return quantile * spread / math.sqrt(blocks)


def upper_spread(spread: float, blocks: int) -> float:
    """The upper end of the one-sided interval, at level CAUTION, of a spread from so many blocks of
    normal values: spread x sqrt((n-1) / chi2[1-CAUTION; n-1])."""
    half_freedom = (blocks - 1) / 2
    return spread * math.sqrt(
        half_freedom / float(scipy.special.gammaincinv(half_freedom, 1 - CAUTION))
    )


def need(cell_id: str, values: Sequence[float], precision: float) -> Need:
    """What a cell needs, from its values in two blocks or more; ValueError for fewer."""
    if len(values) < 2:
        raise ValueError(f"{cell_id}: {len(values)} block has no spread")
    spread = stdev(values) / fmean(values)
    return Need(
        cell_id=cell_id,
        blocks=len(values),
        spread=spread,
        likely=blocks_needed(spread, precision),
        cautious=blocks_needed(upper_spread(spread, len(values)), precision),
    )


def hardest_first(needs: Sequence[Need]) -> list[Need]:
    """The cells that need most, first."""
    return sorted(needs, key=lambda each: each.spread, reverse=True)


def whole(needed: Sequence[int | None]) -> int | None:
    """The blocks that a run needs until EVERY cell is precise; None where one never is."""
    known = [each for each in needed if each is not None]
    return max(known, default=LEAST_BLOCKS) if len(known) == len(needed) else None
