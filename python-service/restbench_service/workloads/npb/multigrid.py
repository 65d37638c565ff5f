"""MG: multigrid V-cycles for a periodic 3-D Poisson problem (NPB 3.4, mg.f).

The right-hand side is +1 and -1 at the extremes of a random field, 0 elsewhere. A cycle visits a
hierarchy of grids; each operator is a loop over blocks of planes. A run has one untimed cycle; the
timed region is the residual, all cycles and the norms.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..workload import ParallelLoop
from . import random_numbers, stencils
from .kernel import Outcome, block_count

Grid = NDArray[np.float64]
"""A grid of (n + 2)**3 points, see stencils."""
SMOOTHER_A = (-3 / 8, 1 / 32, -1 / 64)
SMOOTHER_B = (-3 / 17, 1 / 33, -1 / 61)
CHARGES = 10
"""The number of charges of each sign."""
EPSILON = 1e-8
OPERATIONS_A_POINT = 58
"""Operations per point in one iteration."""
_POINTS_AT_ONCE = 2**20
_TASK_PLANES = 8


@dataclass(frozen=True)
class GridClass:
    """A grid of points**3 points; `points` is a power of two. `norm` is the residual's norm.

    `norm_after` is the number of iterations before that norm; None: all. If it is given, the norm
    after the last iteration must also be below `noise`.
    """

    points: int
    iterations: int
    norm: float
    smoother: tuple[float, float, float] = SMOOTHER_A
    norm_after: int | None = None
    noise: float = 0.0


CLASSES = {
    "S": GridClass(32, 4, 0.5307707005734e-04),
    "W": GridClass(128, 4, 0.6467329375339e-05),
    "A": GridClass(256, 4, 0.2433365309069e-05),
    "B": GridClass(256, 20, 0.1800564401355e-05, SMOOTHER_B),
    "C": GridClass(512, 20, 0.5706732285740e-06, SMOOTHER_B),
    # NPB 3.0's class W ends in rounding noise, which no reference value can verify.
    "W30": GridClass(64, 40, 0.183103168997e-04, norm_after=4, noise=1e-16),
}


class Charges(NamedTuple):
    """Ascending positions of +1 and of -1 in the interior, counted with i1 fastest."""

    positive: NDArray[np.int64]
    negative: NDArray[np.int64]


def search_bytes(size: GridClass) -> int:
    """The bytes of the numbers that are searched at a time, with their positions and order."""
    return 8 * 4 * min(_POINTS_AT_ONCE, size.points**3)


def find_charges(size: GridClass) -> Charges:
    """The positions of the ten largest and the ten smallest numbers of the random field."""
    positions = np.empty(0, np.int64)
    numbers = np.empty(0, np.uint64)
    total = size.points**3
    for first in range(0, total, _POINTS_AT_ONCE):
        count = min(_POINTS_AT_ONCE, total - first)
        numbers = np.concatenate((numbers, random_numbers.states(first, count)))
        positions = np.concatenate((positions, np.arange(first, first + count)))
        order = np.argpartition(numbers, (CHARGES, numbers.size - CHARGES))
        extremes = np.concatenate((order[:CHARGES], order[-CHARGES:]))
        numbers, positions = numbers[extremes], positions[extremes]
    order = np.argsort(numbers)
    return Charges(np.sort(positions[order[-CHARGES:]]), np.sort(positions[order[:CHARGES]]))


def level_points(size: GridClass) -> list[int]:
    """Points per axis on each level, beginning with 2 on level 1."""
    return [2**level for level in range(1, size.points.bit_length())]


class Solver:
    """The grids of one run. Level k has 2**k points per axis; the lists begin with level 1."""

    def __init__(self, size: GridClass, loop: ParallelLoop) -> None:
        self._size, self._loop = size, loop
        sides = [points + 2 for points in level_points(size)]
        self._u: list[Grid] = [loop.array((side,) * 3, np.float64) for side in sides]
        self._r: list[Grid] = [loop.array((side,) * 3, np.float64) for side in sides]
        self._v: Grid = loop.array((sides[-1],) * 3, np.float64)
        self._sums: Grid = loop.array((self._blocks(self._v),), np.float64)

    def begin(self, charges: Charges) -> None:
        """Set u to 0 and v to the charges."""
        self._u[-1][...] = 0
        self._v[...] = 0
        interior = self._v[1:-1, 1:-1, 1:-1]
        shape = interior.shape
        interior[np.unravel_index(charges.positive, shape)] = 1
        interior[np.unravel_index(charges.negative, shape)] = -1
        stencils.fill_all_ghosts(self._v)

    def cycle(self) -> None:
        """One V-cycle: correct u by means of the current residual, and compute the new residual."""
        for fine, coarse in zip(self._r[:0:-1], self._r[-2::-1], strict=True):
            self._over(coarse, stencils.restrict, fine, coarse)
        self._u[0][...] = 0
        self._smooth(0)
        for level in range(1, len(self._u)):
            self._correct(level)
        self.residual()

    def residual(self) -> None:
        """r = v - A u."""
        self._over(self._v, stencils.residual, self._v, self._u[-1], self._r[-1])

    def norm(self) -> float:
        """The root mean square of the residual."""
        self._over(self._v, stencils.sum_squares, self._r[-1], self._sums)
        return sqrt(sum(self._sums.tolist()) / self._size.points**3)

    def _correct(self, level: int) -> None:
        """Add the coarser grid's solution, and smooth the residual that remains."""
        u, r = self._u[level], self._r[level]
        is_finest = level == len(self._u) - 1
        if not is_finest:
            u[...] = 0
        self._over(self._u[level - 1], stencils.prolong, self._u[level - 1], u)
        self._over(u, stencils.residual, self._v if is_finest else r, u, r)
        self._smooth(level)

    def _smooth(self, level: int) -> None:
        u, r = self._u[level], self._r[level]
        self._over(u, stencils.smooth, self._size.smoother, r, u)

    def _over(self, grid: Grid, body: Callable[..., None], *arguments: Any) -> None:
        blocks = self._blocks(grid)
        self._loop.for_each(blocks, 1, body, blocks, *arguments)

    def _blocks(self, grid: Grid) -> int:
        return block_count(grid.size, grid.shape[0] - 2)


class Multigrid:
    """The kernel MG. Its input is the positions of the charges."""

    classes = CLASSES

    def memory_bytes(self, size: GridClass) -> int:
        """See Kernel. u, r and v on the finest grid, u and r on the others; planes for tasks.

        The search for the charges has ended before, so the larger of the two counts.
        """
        sides = [points + 2 for points in level_points(size)]
        grids = 2 * sum(side**3 for side in sides) + sides[-1] ** 3
        return max(8 * (grids + _TASK_PLANES * sides[-1] ** 2), search_bytes(size))

    def input_bytes(self, size: GridClass) -> int:  # noqa: ARG002 - the same for all
        """See Kernel. The input is positions."""
        return 8 * 2 * CHARGES

    def operations(self, size: GridClass) -> float:
        """See Kernel. The formula is that of mg.f."""
        return float(OPERATIONS_A_POINT * size.iterations * size.points**3)

    def generate(self, size: GridClass) -> Charges:
        """See Kernel. The charges."""
        return find_charges(size)

    def run(self, size: GridClass, given: Charges | None, loop: ParallelLoop) -> Outcome:
        """See Kernel. The value is the norm after the iterations that the class specifies."""
        charges = given or find_charges(size)
        solver = Solver(size, loop)
        solver.begin(charges)
        solver.residual()
        solver.cycle()
        solver.begin(charges)
        began = perf_counter()
        norms = _norms(solver, size)
        seconds = perf_counter() - began
        norm = norms[size.norm_after or size.iterations]
        is_near = abs(norm - size.norm) <= EPSILON * size.norm
        verified = is_near and (size.norm_after is None or norms[size.iterations] < size.noise)
        return Outcome(verified, norm, size.norm, size.iterations, seconds)


def _norms(solver: Solver, size: GridClass) -> dict[int, float]:
    """Run all iterations. The result is norms by the number of iterations before them.

    NPB computes the first and the last norm; one in between takes a hundredth of an iteration.
    """
    solver.residual()
    norms = {0: solver.norm()}
    for iteration in range(1, size.iterations + 1):
        solver.cycle()
        if iteration in (size.norm_after, size.iterations):
            norms[iteration] = solver.norm()
    return norms
