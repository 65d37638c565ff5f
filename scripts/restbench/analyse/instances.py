"""Several instances of a service compared with one: throughput and CPU time per request of each
arrangement over those of one unbound instance, which the kernel places. Pure functions on rows.

The one instance's best strategy is of the same blocks, so ratios to it tend to be too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from restbench.analyse.comparison import Comparison, best_cell, over, usable
from restbench.analyse.measures import Row, alike
from restbench.experiment.cell import Cell


@dataclass(frozen=True)
class Arrangement:
    """A strategy on a number of instances in one placement."""

    row: Row
    one: Row | None
    """One unbound instance under the same strategy."""
    best: Row
    """One unbound instance under its best strategy."""

    def over_one(self, metric: str) -> Comparison:
        """A metric over that of one instance under the same strategy."""
        lack = "this run has no single instance under this strategy"
        return over(self.one, lack, metric, self.row)

    @property
    def to_best(self) -> Comparison:
        """Throughput over that of one instance under its best strategy."""
        return over(self.best, "", "throughput_per_s", self.row)

    @property
    def is_bound(self) -> bool:
        """Whether each of several instances has a core of its own."""
        return self.row.cell.instances > 1 and self.row.cell.placement == "per-core"


@dataclass(frozen=True)
class Load:
    """Cells that differ in strategy, instances and placement alone; `cell` has the rest."""

    cell: Cell
    arrangements: tuple[Arrangement, ...]

    @property
    def bound(self) -> Arrangement | None:
        """The best arrangement whose instances have a core each; None where there is none."""
        known = [each for each in self.arrangements if each.is_bound and each.to_best.estimate]
        return max(known, key=lambda each: each.to_best.estimate or 0.0, default=None)

    @property
    def growing(self) -> dict[Cell, list[Row]]:
        """By cell: rows that differ in their number of instances only, where there are several."""
        measured = (each.row for each in self.arrangements if each.row.measured)
        found = alike(measured, instances=1)
        return {cell: rows for cell, rows in found.items() if len(rows) > 1}


def loads(rows: Sequence[Row]) -> list[Load]:
    """The loads that have both a measured unbound single instance and several instances."""
    behind_a_front = (row for row in rows if row.cell.technique == "none")
    groups = alike(behind_a_front, strategy="", instances=1, placement="unbound")
    found = [Load(cell, _arrangements(of)) for cell, of in groups.items()]
    return [each for each in found if any(it.row.cell.instances > 1 for it in each.arrangements)]


def _arrangements(rows: Sequence[Row]) -> tuple[Arrangement, ...]:
    single = {
        row.cell.strategy: row
        for row in rows
        if (row.cell.instances, row.cell.placement) == (1, "unbound")
    }
    known = usable(single.values(), "throughput_per_s")
    if not known:
        return ()
    best = single[best_cell(known, "throughput_per_s").strategy]
    return tuple(Arrangement(row, single.get(row.cell.strategy), best) for row in rows)
