"""V-cycles over a pyramid of grids, each operator a loop over blocks of planes."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...workload import ParallelLoop
from ..blocks import block_count
from . import stencils
from .charges import Charges
from .classes import GridClass

Grid = NDArray[np.float64]
"""(n + 2)**3, see stencils."""


def level_points(size: GridClass) -> list[int]:
    """Points an axis on each level, from 2 on the first."""
    return [2**level for level in range(1, size.points.bit_length())]


class Solver:
    """The grids of one run. Level k has 2**k points an axis; the lists begin with level 1."""

    def __init__(self, size: GridClass, loop: ParallelLoop) -> None:
        """Memory only; begin() gives it values."""
        self._size, self._loop = size, loop
        sides = [points + 2 for points in level_points(size)]
        self._u: list[Grid] = [loop.array((side,) * 3, np.float64) for side in sides]
        self._r: list[Grid] = [loop.array((side,) * 3, np.float64) for side in sides]
        self._v: Grid = loop.array((sides[-1],) * 3, np.float64)
        self._sums: Grid = loop.array((self._blocks(self._v),), np.float64)

    def begin(self, charges: Charges) -> None:
        """u = 0, and v the charges."""
        self._u[-1][...] = 0
        self._v[...] = 0
        interior = self._v[1:-1, 1:-1, 1:-1]
        shape = interior.shape
        interior[np.unravel_index(charges.positive, shape)] = 1
        interior[np.unravel_index(charges.negative, shape)] = -1
        stencils.fill_all_ghosts(self._v)

    def cycle(self) -> None:
        """One V-cycle, which mends u from the residual that is there, and the new residual."""
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
        """The root of the residual's mean square."""
        self._over(self._v, stencils.sum_squares, self._r[-1], self._sums)
        return sqrt(sum(self._sums.tolist()) / self._size.points**3)

    def _correct(self, level: int) -> None:
        """Take over the coarser grid's solution, and smooth what it leaves."""
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
        """A loop over the planes of a grid."""
        blocks = self._blocks(grid)
        self._loop.for_each(blocks, 1, body, blocks, *arguments)

    def _blocks(self, grid: Grid) -> int:
        return block_count(grid.size, grid.shape[0] - 2)
