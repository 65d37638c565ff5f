"""Throughput by numbers of workers and users: grids of cells that differ in nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from restbench.analyse import scalability
from restbench.analyse.comparison import common_blocks, indistinguishable, series
from restbench.analyse.measures import FEWEST_BLOCKS, Row, alike
from restbench.experiment.cell import Cell
from restbench.experiment.statistics import Interval


@dataclass(frozen=True)
class Grid:
    """Cells that differ in workers and users alone; `cell` has the other levels."""

    cell: Cell
    cores: int
    """That the service may use."""
    rows: tuple[Row, ...]

    @property
    def advised(self) -> int:
        """The number of workers that gunicorn's documentation and the study advise."""
        return 2 * self.cores + 1

    @property
    def users(self) -> list[int]:
        """The columns."""
        return sorted({row.cell.users for row in self.rows})

    def over_best(self, row: Row, metric: str = "throughput_per_s") -> float | None:
        """How near a cell comes to the best of its column, 0 to 1; None without a number."""
        column = [each.value(metric) for each in self.rows if each.cell.users == row.cell.users]
        known, own = [value for value in column if value], row.value(metric)
        if not own:
            return None
        return own / max(known) if metric == "throughput_per_s" else min(known) / own

    def alike(self, users: int) -> list[int]:
        """The numbers of workers that cannot be told from the best by throughput; empty below three
        common blocks."""
        rows = [row for row in self.rows if row.cell.users == users and row.measured]
        blocks = _blocks(rows)
        if len(blocks) < FEWEST_BLOCKS:
            return []
        numbers = (row.cell.workers for row in rows)
        return sorted(indistinguishable(dict(zip(numbers, zip(*blocks, strict=True), strict=True))))

    @property
    def enough(self) -> list[int]:
        """The numbers of workers that are so for every number of users."""
        return sorted(set.intersection(*(set(self.alike(each)) for each in self.users)))

    def scaling(self, *, amdahl: bool = False) -> tuple[Interval, Interval, Interval] | str:
        """How throughput grows with users, with the advised number of workers."""
        rows = [row for row in self.rows if row.cell.workers == self.advised and row.measured]
        rows.sort(key=lambda row: row.cell.users)
        users = [row.cell.users for row in rows]
        return scalability.published(users, _blocks(rows), amdahl=amdahl)


def _blocks(rows: Sequence[Row]) -> list[list[float]]:
    """The throughputs of the rows in each block in which all have one."""
    known = [series(row, "throughput_per_s") for row in rows]
    common = common_blocks(known) if known else []
    values = [[each.values[block] for each in known] for block in common]
    return [each for each in values if min(each) > 0]


def grids(rows: Sequence[Row], cores: int) -> list[Grid]:
    """Those of several numbers of workers, in the order of the rows."""
    return [
        Grid(cell, cores, tuple(of))
        for cell, of in alike(rows, workers=1, users=1).items()
        if len({row.cell.workers for row in of}) > 1
    ]
