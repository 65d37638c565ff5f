"""The ratio of one metric of two cells, with its interval, and the best of several cells without
the winner's curse: pure functions on rows, and on values by block.

What a ratio means against an expectation is judged in `judge.verdicts`. The best of many is partly
picked by chance, so that it looks better than it is. So the best cell that another is compared with
in a block is picked by all other blocks (leave one out), which are independent of that block.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import truediv
from statistics import fmean, median
from typing import TypeVar

from restbench.analyse.measurement import number
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.statistics import (
    CONFIDENCE,
    Ratio,
    geometric_mean,
    holm_adjusted,
    log_welch_ratio,
    paired_ratio,
    prediction_ratio,
)

#: The reason why two measured cells have no ratio where they were never measured in one block.
APART = "no block has measured both cells"
#: A smaller difference does not count as one, however significant it is (method, rule 7).
MARGIN = 0.05
#: With fewer cells their spread is not known, and so neither is the interval for another cell.
FEWEST_POOLED = 3
C = TypeVar("C", bound=Hashable)


@dataclass(frozen=True)
class Series:
    """A metric's values by block, or why there are none: `void` where an answer was wrong."""

    values: dict[int, float] = field(default_factory=dict)
    lack: str | None = None
    void: bool = False

    @property
    def median(self) -> float | None:
        """The median over the blocks; None where there are none."""
        return median(self.values.values()) if self.values else None

    @property
    def is_usable(self) -> bool:
        """Whether a ratio can be made of the series: it has values, all above 0."""
        return self.lack is None and min(self.values.values()) > 0


@dataclass(frozen=True)
class Comparison:
    """The ratio first/second of two series: of one block an `estimate`, of more also a `ratio`."""

    margin: float = MARGIN
    """The smallest difference that counts, as a part of the smaller value: 0.05 is 5 %."""
    estimate: float | None = None
    ratio: Ratio | None = None
    blocks: int = 0
    lack: str | None = None
    """What is missing, where there is no estimate."""
    earlier: Comparison | None = None
    """The same without the last block: the look before (method, rule 6)."""

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of the 95 % interval; None without one."""
        return (self.ratio.low, self.ratio.high) if self.ratio else None

    @property
    def half_width_pct(self) -> float | None:
        """From the estimate to the upper end of the 95 % interval, percent of the estimate."""
        return 100 * (self.ratio.high / self.ratio.estimate - 1) if self.ratio else None


def series(row: Row, metric: str, kind: str = "") -> Series:
    """The metric of one cell in each block without a wrong answer (method, rule 5); of one kind of
    a mix where one is named."""
    if "wrong-answers" in row.flags and not row.valid_blocks:
        return Series(lack=f"{row.cell.id} gave a wrong answer", void=True)
    if row.is_of_other_mix:
        return Series(lack=f"{row.cell.id} completed requests of another mix than the planned one")
    found = {each.block: each.kinds.get(kind) if kind else each for each in row.valid_blocks}
    values = {block: number(each, metric) for block, each in found.items()}
    known = {block: value for block, value in values.items() if value is not None}
    lacking = f"{metric} of {kind}" if kind else metric
    return Series(known) if known else Series(lack=f"{row.cell.id} has no {lacking}")


def usable(rows: Iterable[Row], metric: str) -> dict[Cell, Series]:
    """By cell: the series of each row's metric that a ratio can be made of."""
    found = {row.cell: series(row, metric) for row in rows}
    return {cell: each for cell, each in found.items() if each.is_usable}


def combine(first: Series, second: Series, of: Callable[[float, float], float]) -> Series:
    """A value made of two, in each block that has both."""
    for each in (first, second):
        if each.lack:
            return each
    common = [block for block in first.values if block in second.values]
    if not common:
        return Series(lack=APART)
    return Series({block: of(first.values[block], second.values[block]) for block in common})


def common_blocks(known: Iterable[Series]) -> list[int]:
    """The blocks in which every series has a value, in order."""
    return sorted(set.intersection(*(set(each.values) for each in known)))


def paired(first: Series, second: Series, margin: float = MARGIN) -> Comparison:
    """The ratio of two series of ONE run, block against block: t on ln(ratio) over the blocks."""
    both = combine(first, second, of=min)
    if lack := _lack(margin, first, second, both):
        return lack
    ones, twos = ([each.values[block] for block in both.values] for each in (first, second))
    earlier = _compared(ones[:-1], twos[:-1], paired_ratio, margin) if len(ones) > 1 else None
    return replace(_compared(ones, twos, paired_ratio, margin), earlier=earlier)


def exact(first: Series, second: Series, margin: float = MARGIN) -> Comparison:
    """The ratio of the block in which two series of ONE run differ most, which may be 0; 1 where
    they differ in none. It has no interval, as nothing is estimated."""
    if lack := _lack(margin, second):
        return lack
    ratios = combine(first, second, of=truediv)
    if ratios.lack:
        return Comparison(margin, lack=ratios.lack)
    most = max(ratios.values.values(), key=lambda each: abs(each - 1))
    return Comparison(margin, most, blocks=len(ratios.values))


def over(usual: Row | None, lack: str, metric: str, row: Row) -> Comparison:
    """A row's metric over that of the `usual` row; `lack` says why there is no such row."""
    if usual is None:
        return Comparison(lack=lack)
    return paired(series(row, metric), series(usual, metric))


def unpaired(first: Series, second: Series, margin: float = MARGIN) -> Comparison:
    """The ratio of two series of DIFFERENT runs: log-Welch over the blocks of each."""
    if lack := _lack(margin, first, second):
        return lack
    ones, twos = list(first.values.values()), list(second.values.values())
    return _compared(ones, twos, log_welch_ratio, margin)


def _compared(
    ones: Sequence[float],
    twos: Sequence[float],
    of: Callable[[Sequence[float], Sequence[float]], Ratio],
    margin: float,
) -> Comparison:
    blocks = min(len(ones), len(twos))
    if blocks == 1:
        return Comparison(margin, fmean(ones) / fmean(twos), blocks=1)
    ratio = of(ones, twos)
    return Comparison(margin, ratio.estimate, ratio, blocks)


def pooled(comparisons: Sequence[Comparison]) -> Comparison:
    """The geometric mean of the ratios of several cells, with an interval for ANOTHER such cell
    (random effects, `prediction_ratio`). Where one cell has no ratio, neither has the pool."""
    for each in comparisons:
        if each.estimate is None:
            return each
    now = _pooled(comparisons)
    earlier = [each.earlier for each in comparisons if each.earlier]
    return replace(now, earlier=_pooled(earlier)) if len(earlier) == len(comparisons) else now


def _pooled(comparisons: Sequence[Comparison]) -> Comparison:
    margin, blocks = comparisons[0].margin, min(each.blocks for each in comparisons)
    ratios = [each.ratio for each in comparisons if each.ratio]
    if len(ratios) < max(len(comparisons), FEWEST_POOLED):
        mean = geometric_mean([each.estimate or 1.0 for each in comparisons])
        return Comparison(margin, mean, blocks=blocks)
    ratio = prediction_ratio(ratios)
    return Comparison(margin, ratio.estimate, ratio, blocks)


def _lack(margin: float, *needed: Series) -> Comparison | None:
    for each in needed:
        if each.lack:
            return Comparison(margin, lack=each.lack)
        if not each.is_usable:
            return Comparison(margin, lack="a value is not above 0, so there is no ratio")
    return None


def best_of(values: Mapping[C, Sequence[float]], *, more_is_better: bool = True) -> C:
    """The cell with the best geometric mean."""
    sign = 1 if more_is_better else -1
    return max(values, key=lambda each: sign * geometric_mean(values[each]))


def best_cell(known: Mapping[Cell, Series], metric: str) -> Cell:
    """The cell with the best values, all above 0, in the blocks that all cells have, as hours
    differ and would bias a ranking; by all its values where there is no such block."""
    common = common_blocks(known.values())
    values = {
        cell: [value for block, value in each.values.items() if block in common or not common]
        for cell, each in known.items()
    }
    return best_of(values, more_is_better=metric.endswith("_per_s"))


def best_of_others(
    values: Mapping[C, Sequence[float]], *, more_is_better: bool = True
) -> tuple[C, ...]:
    """For each of several blocks, which all cells have, the cell that is best in all others."""
    blocks = len(next(iter(values.values())))
    return tuple(
        best_of(
            {cell: [*of[:block], *of[block + 1 :]] for cell, of in values.items()},
            more_is_better=more_is_better,
        )
        for block in range(blocks)
    )


def indistinguishable(
    values: Mapping[C, Sequence[float]], *, more_is_better: bool = True
) -> list[C]:
    """The best cell and those that cannot be distinguished from it: paired t on logarithms, Holm
    over all others."""
    best = best_of(values, more_is_better=more_is_better)
    others = [cell for cell in values if cell != best]
    p_values = holm_adjusted([paired_ratio(values[each], values[best]).p_value for each in others])
    alike = [cell for cell, p in zip(others, p_values, strict=True) if p > 1 - CONFIDENCE]
    return [best, *alike]
