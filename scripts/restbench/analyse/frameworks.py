"""What a web framework costs: CPU time per request in each, over that in the service's default and
in the cheapest; and from which size of work on it no longer matters (`docs/reading-results.md`).
The cheapest is picked from the same blocks, so ratios to it tend to be too large. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from restbench.analyse.comparison import (
    MARGIN,
    Comparison,
    best_of,
    common_blocks,
    indistinguishable,
    over,
    paired,
    usable,
)
from restbench.analyse.measures import Row, alike
from restbench.experiment.cell import DEFAULT_FRAMEWORKS, Cell
from restbench.experiment.statistics import FEWEST_BLOCKS
from restbench.grouping import grouped

METRIC = "cpu_ms_per_request"


@dataclass(frozen=True)
class Cost:
    """One framework at one size."""

    row: Row
    usual: Row | None
    """The row of the service's default framework; None where that has no number."""
    to_best: Comparison
    """The framework's CPU time over that of the cheapest."""
    is_tied: bool
    """Whether the framework is the cheapest, or cannot be distinguished from it (Holm)."""

    def over_default(self, metric: str = METRIC) -> Comparison:
        """A metric over that in the service's default framework."""
        return over(self.usual, "the default framework has no number", metric, self.row)

    @property
    def is_within(self) -> bool:
        """Whether the framework is shown to need at most the margin more than the cheapest."""
        found = self.to_best
        return (
            bool(found.ratio and found.ratio.high <= 1 + MARGIN) and found.blocks >= FEWEST_BLOCKS
        )


@dataclass(frozen=True)
class Size:
    """All frameworks at one size of work."""

    complexity: str
    work_ms: float
    """CPU time per request in the cheapest framework."""
    costs: tuple[Cost, ...]
    """The cheapest first."""
    lacking: tuple[Row, ...]
    """The rows without a number, of which nothing can be said."""

    @property
    def is_alike(self) -> bool:
        """Whether the framework does not matter at this size."""
        return not self.lacking and all(each.is_within for each in self.costs)


@dataclass(frozen=True)
class Load:
    """Cells that differ in framework, handoff, complexity and kernel alone; `cell` has the rest."""

    cell: Cell
    sizes: tuple[Size, ...]
    """The smallest work first."""

    @property
    def from_size(self) -> Size | None:
        """The smallest size from which on the framework does not matter; None without one."""
        alike = list(takewhile(lambda each: each.is_alike, reversed(self.sizes)))
        return alike[-1] if alike else None


def loads(rows: Sequence[Row]) -> list[Load]:
    """The loads in which two frameworks or more have a CPU time, by service and number of users."""
    found = []
    groups = alike(rows, complexity="", kernel="loops", framework="tomcat", handoff="thread")
    for cell, of in groups.items():
        by_size = grouped(of, lambda row: (row.cell.complexity, row.cell.kernel))
        sizes = filter(None, map(_size, by_size.values()))
        found.append(Load(cell, tuple(sorted(sizes, key=lambda each: each.work_ms))))
    several = [each for each in found if any(len(size.costs) > 1 for size in each.sizes)]
    return sorted(several, key=lambda each: (each.cell.service, each.cell.users))


def _size(rows: Sequence[Row]) -> Size | None:
    costs = usable(rows, METRIC)
    known = [row for row in rows if row.cell in costs]
    common = common_blocks(costs.values()) if known and len(rows) > 1 else []
    if not common:  # hours differ: only common blocks allow a ranking
        return None
    values = {cell: [each.values[block] for block in common] for cell, each in costs.items()}
    best = best_of(values, more_is_better=False)
    tied = indistinguishable(values, more_is_better=False) if len(common) > 1 else [best]
    usual = {row.cell.framework: row for row in known}.get(DEFAULT_FRAMEWORKS[best.service])
    priced = [
        Cost(row, usual, paired(costs[row.cell], costs[best]), row.cell in tied) for row in known
    ]
    priced.sort(key=lambda each: (each.row.cell != best, each.to_best.estimate or 0.0))
    work_ms = next(row.value(METRIC) or 0.0 for row in known if row.cell == best)
    lacking = tuple(row for row in rows if row not in known)
    return Size(rows[0].cell.complexity, work_ms, tuple(priced), lacking)
