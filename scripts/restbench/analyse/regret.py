"""What choosing costs: the strategy that chooses against the best fixed one of each cell, and what
a mix of small and huge requests does to each. Pure: rows in, ratios out.

A cell's best fixed strategy is the one that these very runs show as the best. Among several that
are alike it is the one that luck favoured, so regret is rather shown too large than too small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from restbench.analyse import audit
from restbench.analyse.comparison import Comparison, Series, in_common_blocks, paired, part_series
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.statistics import geometric_mean
from restbench.observe.decisions import STRATEGY as CHOOSING

#: So much less than the best fixed strategy is as good as it; the margin of claims/adaptive.toml.
TOLERANCE = 0.03
#: A kind's p95 in the mix over its p95 alone, at most: small requests do not wait for huge ones
#: (F1-stuck in claims/adaptive.toml).
STUCK_ABOVE = 2.0

Metric: TypeAlias = Literal["throughput_per_s", "p95_ms"]
Verdict: TypeAlias = Literal["within", "beyond", "undecided", "not measured"]


@dataclass(frozen=True)
class Share:
    """How one strategy does beside another in a cell: above 1 where the first does better, whatever
    the metric."""

    metric: Metric
    part: str
    """The kind of request of a mix; empty for all requests of the cell."""
    cell: Cell
    other: Cell | None
    """None where no other has a number."""
    comparison: Comparison
    doubtful: bool = False
    unknown: tuple[str, ...] = ()
    """The fixed strategies that should have a number and have none: one might be the best."""

    @property
    def once(self) -> bool:
        """Whether it is from one block: without an interval, and so no verdict."""
        return self.comparison.estimate is not None and self.comparison.ratio is None

    @property
    def regret(self) -> float | None:
        """What is lost by not knowing the best beforehand; below 0 where choosing is better."""
        estimate = self.comparison.estimate
        return None if estimate is None else 1 - estimate

    @property
    def verdict(self) -> Verdict:
        """Whether regret is within the tolerance: by its whole interval, or in the one run."""
        if self.comparison.estimate is None:
            return "not measured"
        ends = self._ends
        if min(ends) >= 1 - TOLERANCE:
            return "within"
        return "beyond" if max(ends) < 1 - TOLERANCE else "undecided"

    @property
    def is_better(self) -> bool:
        """Whether the first is better by more than the tolerance, for sure or in the one run."""
        return self.comparison.estimate is not None and min(self._ends) * (1 - TOLERANCE) > 1

    @property
    def _ends(self) -> tuple[float, float]:
        ratio, estimate = self.comparison.ratio, self.comparison.estimate or 0.0
        return (ratio.low, ratio.high) if ratio else (estimate, estimate)


@dataclass(frozen=True)
class Slowdown:
    """A kind's p95 in a mix over its p95 alone, under the same strategy and number of users."""

    kind: str
    mixed: Cell
    alone: Cell
    comparison: Comparison


def regrets(rows: Sequence[Row]) -> list[Share]:
    """For each cell of the strategy that chooses its share of the best fixed one: of throughput,
    and of p95 (of a mix that of each kind); in the order of the rows."""
    found = []
    for group in _groups(rows):
        (choosing,) = (row for row in group if row.cell.strategy == CHOOSING)
        fixed = [row for row in group if row is not choosing and "not-offered" not in row.flags]
        found += [
            _share_of_best(choosing, fixed, metric, part) for metric, part in _asked(choosing)
        ]
    return found


def duels(rows: Sequence[Row]) -> list[Share]:
    """The same against every fixed strategy of each mix."""
    return [
        _share(choosing, row, metric, part)
        for group in _groups(rows)
        for choosing in group
        if choosing.cell.strategy == CHOOSING and choosing.mix
        for row in group
        if row is not choosing and "not-offered" not in row.flags
        for metric, part in _asked(choosing)
    ]


def slowdowns(rows: Sequence[Row]) -> list[Slowdown]:
    """For every mix and its smallest kind, where that was also measured alone."""
    known = {row.cell: row for row in rows}
    found = []
    for row in rows:
        if not row.mix:
            continue
        kind = min(row.mix, key=lambda each: each.shape.products).name
        alone = known.get(row.cell.model_copy(update={"complexity": kind}))
        if alone is not None:
            ratio = paired(part_series(row, kind, "p95_ms"), part_series(alone, "", "p95_ms"))
            found.append(Slowdown(kind, row.cell, alone.cell, ratio))
    return found


def _groups(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows that differ in nothing but their strategy, where one of these chooses."""
    groups: dict[Cell, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.cell.model_copy(update={"strategy": CHOOSING}), []).append(row)
    return [
        group
        for choosing, group in groups.items()
        if len(group) > 1 and any(row.cell == choosing for row in group)
    ]


def _asked(row: Row) -> list[tuple[Metric, str]]:
    """Of a mix no common p95: with 5 % huge requests it is the slowest small or the fastest huge
    one by chance."""
    parts = [kind.name for kind in row.mix] or [""]
    return [("throughput_per_s", ""), *(("p95_ms", part) for part in parts)]


def _share_of_best(choosing: Row, fixed: Sequence[Row], metric: Metric, part: str) -> Share:
    values = {row.cell: part_series(row, part, metric) for row in fixed}
    known = [row for row in fixed if _usable(values[row.cell])]
    unknown = tuple(row.cell.strategy for row in fixed if row not in known)
    if not known:
        lack = Comparison("not measured", lack="no fixed strategy has a number")
        return Share(metric, part, choosing.cell, None, lack, unknown=unknown)
    found = _share(choosing, _best(known, values, metric), metric, part)
    return Share(**{**vars(found), "unknown": unknown})


def _best(rows: Sequence[Row], values: Mapping[Cell, Series], metric: Metric) -> Row:
    sign = 1 if metric == "throughput_per_s" else -1
    known = in_common_blocks({row.cell: values[row.cell] for row in rows})
    return max(rows, key=lambda row: sign * geometric_mean(known[row.cell]))


def _share(choosing: Row, other: Row, metric: Metric, part: str) -> Share:
    one, two = (part_series(row, part, metric) for row in (choosing, other))
    higher_is_better = metric == "throughput_per_s"
    comparison = paired(one, two) if higher_is_better else paired(two, one)
    doubtful = audit.is_doubtful((*choosing.flags, *other.flags))
    return Share(metric, part, choosing.cell, other.cell, comparison, doubtful)


def _usable(values: Series) -> bool:
    return values.lack is None and min(values.values.values()) > 0
