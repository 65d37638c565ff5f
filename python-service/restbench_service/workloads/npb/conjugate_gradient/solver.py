"""Conjugate gradient steps on a sparse matrix; products with it are loops over blocks of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...workload import ParallelLoop
from ..blocks import block_count, lines_of
from .matrix import SparseMatrix

Vector = NDArray[np.float64]
ROWS_AT_ONCE = 1024
"""About 150 000 entries: what is gathered for them stays in a core's cache."""


class Solver:
    """A matrix where the tasks of a loop can read it. `products` counts those with it."""

    def __init__(self, matrix: SparseMatrix, loop: ParallelLoop) -> None:
        """The matrix is copied."""
        self._loop = loop
        self._matrix = [_for_tasks(part, loop) for part in matrix]
        self._rows = matrix.row_starts.size - 1
        self._blocks = block_count(matrix.values.size, self._rows)
        self._factor: Vector = loop.array((self._rows,), np.float64)
        self._product: Vector = loop.array((self._rows,), np.float64)
        self.products = 0

    def solve(self, x: Vector, steps: int) -> tuple[Vector, float]:
        """z with A z near x after so many steps, and the norm of x - A z."""
        z = np.zeros_like(x)
        residual, direction = x.copy(), self._factor
        direction[...] = x
        rho = residual @ residual
        for _ in range(steps):
            product = self._multiplied()
            alpha = rho / (direction @ product)
            z += alpha * direction
            residual -= alpha * product
            rho, rho_before = residual @ residual, rho
            direction *= rho / rho_before
            direction += residual
        self._factor[...] = z
        return z, float(np.linalg.norm(x - self._multiplied()))

    def _multiplied(self) -> Vector:
        """The matrix times the factor; valid until the next call."""
        self.products += 1
        self._loop.for_each(
            self._blocks, 1, multiply, self._blocks, *self._matrix, self._factor, self._product
        )
        return self._product


def multiply(start: int, stop: int, blocks: int, *arrays: Any) -> None:
    """Some blocks of rows of the product, of a matrix's parts, the factor and the product."""
    values, columns, row_starts, factor, product = arrays
    low, high = lines_of(start, stop, blocks, product.size)
    for row in range(low, high, ROWS_AT_ONCE):
        end = min(row + ROWS_AT_ONCE, high)
        starts = row_starts[row : end + 1]
        entries = slice(starts[0], starts[-1])
        terms = factor.take(columns[entries], mode="clip")
        terms *= values[entries]
        np.add.reduceat(terms, starts[:-1] - starts[0], out=product[row:end])


def _for_tasks(part: NDArray[Any], loop: ParallelLoop) -> NDArray[Any]:
    shared = loop.array(part.shape, part.dtype)
    shared[...] = part
    return shared
