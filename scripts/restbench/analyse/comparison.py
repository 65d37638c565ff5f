"""Is one cell's metric really greater than another's? Ratios with intervals and verdicts (method,
rule 7): pure functions on rows, no files and no printing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Literal, TypeAlias

from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.statistics import Ratio, holm_levels, log_welch_ratio, paired_ratio

#: A difference smaller than this is not called one, however sure it is (method, rule 7).
MARGIN = 0.05

Verdict: TypeAlias = Literal[
    "different", "no detectable difference", "one run", "not measured", "void"
]


@dataclass(frozen=True)
class Series:
    """A metric's values by block, or why there are none: `void` where an answer was wrong."""

    values: dict[int, float] = field(default_factory=dict)
    lack: str | None = None
    void: bool = False


@dataclass(frozen=True)
class Comparison:
    """What two series say about the ratio first/second, and whether it may be called different.

    `estimate` stands without `ratio` (which has the interval) where there is one block only.
    """

    verdict: Verdict
    margin: float = MARGIN
    """As a part of the smaller of the two: 0.05 is 5 %."""
    estimate: float | None = None
    ratio: Ratio | None = None
    blocks: int = 0
    could_have_seen: float | None = None
    """The smallest ratio above 1 that would have been called different, given the spread of these
    runs, the margin, and how many comparisons stand beside this one (Holm)."""
    lack: str | None = None
    """What is missing, where there is no estimate."""

    @property
    def p_value(self) -> float | None:
        """Of the test that the true ratio is 1, before Holm; None without an interval."""
        return self.ratio.p_value if self.ratio else None

    @property
    def equivalent(self) -> bool:
        """Whether the whole interval says that the two differ by no more than the margin."""
        limit = 1 + self.margin
        return self.ratio is not None and self.ratio.low > 1 / limit and self.ratio.high < limit


def series(row: Row, metric: str) -> Series:
    """The metric of one cell, block by block."""
    return part_series(row, "", metric)


def part_series(row: Row, kind: str, metric: str) -> Series:
    """The same of one kind of request of a mix; of all requests where the kind is empty."""
    if "wrong-answers" in row.flags:
        return Series(lack=f"{row.cell.id} gave a wrong answer", void=True)
    found = {each.block: each.kinds.get(kind) if kind else each for each in row.measured}
    values = {block: getattr(each, metric, None) for block, each in found.items()}
    known = {block: value for block, value in values.items() if value is not None}
    lacking = f"{metric} of {kind}" if kind else metric
    return Series(known) if known else Series(lack=f"{row.cell.id} has no {lacking}")


def combine(first: Series, second: Series, of: Callable[[float, float], float]) -> Series:
    """A value made of two, in each block that has both."""
    for each in (first, second):
        if each.lack:
            return each
    common = [block for block in first.values if block in second.values]
    if not common:
        return Series(lack="no block has measured both cells")
    return Series({block: of(first.values[block], second.values[block]) for block in common})


def in_common_blocks(known: Mapping[Cell, Series]) -> dict[Cell, list[float]]:
    """Each cell's values in the blocks that all have, so that none is ranked by a better hour; all
    its values where there is no such block."""
    common = set.intersection(*(set(each.values) for each in known.values()))
    return {
        cell: [value for block, value in each.values.items() if block in common or not common]
        for cell, each in known.items()
    }


def paired(first: Series, second: Series, margin: float = MARGIN) -> Comparison:
    """The ratio of two series of ONE run, block against block; not yet judged (see `judged`)."""
    both = combine(first, second, of=min)
    lack = _lack(first, second, both)
    if lack:
        return lack
    ones, twos = ([each.values[block] for block in both.values] for each in (first, second))
    if len(ones) == 1:
        return Comparison("one run", margin, ones[0] / twos[0], blocks=1)
    return _with_interval(paired_ratio(ones, twos), margin, len(ones))


def unpaired(first: Series, second: Series, margin: float = MARGIN) -> Comparison:
    """The ratio of two series of DIFFERENT runs; not yet judged (see `judged`)."""
    lack = _lack(first, second)
    if lack:
        return lack
    ones, twos = list(first.values.values()), list(second.values.values())
    blocks = min(len(ones), len(twos))
    if blocks == 1:
        return Comparison("one run", margin, fmean(ones) / fmean(twos), blocks=1)
    return _with_interval(log_welch_ratio(ones, twos), margin, blocks)


def judged(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons of one table with their verdicts: Holm over all that have an interval.

    Different is what Holm rejects AND is larger than the margin: the greater of the two must be
    more than the margin above the smaller, so that both orders give the same verdict. The interval
    is each comparison's own 95 %; beside others it may exclude 1 where Holm does not.
    """
    p_values = [each.p_value for each in comparisons if each.p_value is not None]
    levels = iter(holm_levels(p_values))
    return [judge(each, next(levels)) if each.ratio else each for each in comparisons]


def judge(comparison: Comparison, level: float) -> Comparison:
    """The comparison with its verdict at this level; as it is where it has no interval."""
    ratio = comparison.ratio
    if ratio is None:
        return comparison
    larger = max(ratio.estimate, 1 / ratio.estimate)
    different = ratio.p_value <= level and larger > 1 + comparison.margin
    return replace(
        comparison,
        verdict="different" if different else "no detectable difference",
        could_have_seen=max(ratio.smallest_seen(level), 1 + comparison.margin),
    )


def _with_interval(ratio: Ratio, margin: float, blocks: int) -> Comparison:
    return Comparison("no detectable difference", margin, ratio.estimate, ratio, blocks)


def _lack(*needed: Series) -> Comparison | None:
    for each in needed:
        if each.lack:
            return Comparison("void" if each.void else "not measured", lack=each.lack)
        if min(each.values.values()) <= 0:
            return Comparison("not measured", lack="a value is not above 0: it has no ratio")
    return None
