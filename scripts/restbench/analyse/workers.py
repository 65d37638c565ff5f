"""Throughput by numbers of workers and users, in grids of cells that differ in nothing else; its
growth with users or instances, by Gunther's Universal Scalability Law and Amdahl's law, fitted
block by block; and the conditions under which a fit is published.

X(N) = rate N / (1 + contention (N - 1) + coherency N (N - 1)); Amdahl's law has no coherency.
Source: Gunther, Guerrilla Capacity Planning, chapters 4 to 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are first used

from restbench.analyse.comparison import common_blocks, indistinguishable, series
from restbench.analyse.measures import Row, alike
from restbench.experiment.cell import Cell
from restbench.experiment.statistics import FEWEST_BLOCKS, Interval, t_interval

#: A fit with a larger root mean square of ln(measured / fitted) does not describe the throughputs.
WORST_RMS = 0.05
FEWEST_LEVELS = 6
#: The levels at which the law's two terms can be distinguished.
NEEDED_LEVELS = (1, 2, 4)
_START_SIGMA, _START_KAPPA = 0.1, 0.001
_PRECISION = 1e-15
#: Rate, contention and coherency over blocks, or why there are none.
Fitted: TypeAlias = tuple[Interval, Interval, Interval] | str


@dataclass(frozen=True)
class Scaling:
    """The law fitted to one series."""

    rate: float
    """The throughput at N = 1 (lambda)."""
    contention: float
    """The part of the work that only one at a time can do, 0 to 1 (sigma)."""
    coherency: float
    """The cost of coordination between each two; 0 or more (kappa)."""
    rms: float = 0.0
    """Root mean square of ln(measured / fitted)."""

    @property
    def peak(self) -> float:
        """The N above which throughput falls; infinite without coherency."""
        return math.sqrt((1 - self.contention) / self.coherency) if self.coherency else math.inf


def fit(levels: Sequence[float], throughputs: Sequence[float], *, amdahl: bool = False) -> Scaling:
    """Least squares of ln X over all allowed parameters, for Amdahl's law without coherency.
    Levels and throughputs are above 0, and as many as parameters or more."""
    n, x = np.asarray(levels, dtype=np.float64), np.asarray(throughputs, dtype=np.float64)
    count = 2 if amdahl else 3

    def residuals(parameters: npt.NDArray[np.float64]) -> Any:
        log_rate, contention, coherency = [*parameters, 0.0][:3]
        return np.log(x / n) - log_rate + np.log1p((contention + coherency * n) * (n - 1))

    found = scipy.optimize.least_squares(
        residuals,
        [math.log(x[0] / n[0]), _START_SIGMA, _START_KAPPA][:count],
        bounds=([-np.inf, 0.0, 0.0][:count], [np.inf, 1.0, np.inf][:count]),
        x_scale="jac",
        xtol=_PRECISION,
        ftol=_PRECISION,
        gtol=_PRECISION,
    )
    log_rate, contention, coherency = [*map(float, found.x), 0.0][:3]
    rms = math.sqrt(float(np.mean(found.fun**2)))
    return Scaling(math.exp(log_rate), contention, coherency, rms)


def published(
    levels: Sequence[int],
    blocks: Sequence[Sequence[float]],
    *,
    amdahl: bool = False,
    cores: int | None = None,
) -> Fitted:
    """Rate, contention and coherency with their t intervals over `blocks`, each of which has the
    throughputs of one block at `levels`; or the sentence that says which condition of publishing
    them failed. Where `cores` is given, no level may be above it."""
    law = "Amdahl's law" if amdahl else "the Universal Scalability Law"
    if lack := _lack(levels, len(blocks), cores):
        return f"{law} is not fitted: {lack}"
    fits = [fit(levels, each, amdahl=amdahl) for each in blocks]
    if (worst := max(each.rms for each in fits)) > WORST_RMS:
        return f"{law} does not fit these numbers: rms of ln {worst:.3f}, allowed {WORST_RMS:g}"
    return (
        t_interval([each.rate for each in fits]),
        t_interval([each.contention for each in fits]),
        t_interval([each.coherency for each in fits]),
    )


def _lack(levels: Sequence[int], blocks: int, cores: int | None) -> str:
    if len(levels) < FEWEST_LEVELS:
        return f"{len(levels)} levels, {FEWEST_LEVELS} are needed"
    if missing := [str(each) for each in NEEDED_LEVELS if each not in levels]:
        return f"N = {', '.join(missing)} is not among the levels"
    if cores is not None and max(levels) > cores:
        return f"N = {max(levels)} is above the number of cores, {cores}"
    if blocks < FEWEST_BLOCKS:
        return f"{blocks} blocks, {FEWEST_BLOCKS} are needed for an interval"
    return ""


@dataclass(frozen=True)
class Grid:
    """Cells that differ in workers and users alone; `cell` has the other levels."""

    cell: Cell
    cores: int
    """The number of cores that the service may use."""
    rows: tuple[Row, ...]

    @property
    def advised(self) -> int:
        """The number of workers that gunicorn's documentation and the study advise."""
        return 2 * self.cores + 1

    @property
    def users(self) -> list[int]:
        """The numbers of users, which are the grid's columns."""
        return sorted({row.cell.users for row in self.rows})

    def over_best(self, row: Row, metric: str = "throughput_per_s") -> float | None:
        """How near a cell comes to the best of its column, 0 to 1; None without a number."""
        column = [each.value(metric) for each in self.rows if each.cell.users == row.cell.users]
        known, own = [value for value in column if value], row.value(metric)
        if not own:
            return None
        return own / max(known) if metric == "throughput_per_s" else min(known) / own

    def alike(self, users: int) -> list[int]:
        """The numbers of workers not distinguishable from the best; none below three blocks."""
        rows = [row for row in self.rows if row.cell.users == users and row.measured]
        blocks = _blocks(rows)
        if len(blocks) < FEWEST_BLOCKS:
            return []
        numbers = (row.cell.workers for row in rows)
        return sorted(indistinguishable(dict(zip(numbers, zip(*blocks, strict=True), strict=True))))

    @property
    def enough(self) -> list[int]:
        """The numbers of workers that are in `alike` for every number of users."""
        return sorted(set.intersection(*(set(self.alike(each)) for each in self.users)))

    def scaling(self, *, amdahl: bool = False) -> Fitted:
        """How throughput grows with users, with the advised number of workers."""
        rows = [row for row in self.rows if row.cell.workers == self.advised]
        return growth(rows, "users", amdahl=amdahl)


def growth(
    rows: Sequence[Row], factor: str, *, amdahl: bool = False, cores: int | None = None
) -> Fitted:
    """How throughput grows with the only factor in which the rows differ (`published`)."""
    by_level = {getattr(row.cell, factor): row for row in rows if row.measured}
    levels = sorted(by_level)
    blocks = _blocks([by_level[each] for each in levels])
    return published(levels, blocks, amdahl=amdahl, cores=cores)


def _blocks(rows: Sequence[Row]) -> list[list[float]]:
    """The throughputs of the rows in each block in which all have one."""
    known = [series(row, "throughput_per_s") for row in rows]
    common = common_blocks(known) if known else []
    values = [[each.values[block] for each in known] for block in common]
    return [each for each in values if min(each) > 0]


def grids(rows: Sequence[Row], cores: int) -> list[Grid]:
    """The grids with several numbers of workers, in the order of the rows."""
    return [
        Grid(cell, cores, tuple(of))
        for cell, of in alike(rows, workers=1, users=1).items()
        if len({row.cell.workers for row in of}) > 1
    ]
