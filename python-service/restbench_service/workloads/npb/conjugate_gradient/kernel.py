"""The run of CG: inverse iterations with a shift, the first of them untimed."""

from time import perf_counter

import numpy as np

from ...workload import ParallelLoop
from ..kernel import Outcome
from .classes import CLASSES, INNER_STEPS, GradientClass
from .matrix import PRODUCTS_AT_ONCE, SparseMatrix, build_matrix, most_entries
from .solver import Solver, Vector

EPSILON = 1e-10
PRODUCTS_AN_ITERATION = INNER_STEPS + 1


class ConjugateGradient:
    """CG. Its input is the matrix."""

    classes = CLASSES

    def memory_bytes(self, size: GradientClass) -> int:
        """The matrix in parts and put together, later its copy for the tasks; and vectors."""
        vectors = 8 * size.rows * (4 * (size.nonzeros + 1) + 8)
        # While a block of rows is built: products, keys, their order and what is sorted by it.
        temporary = 8 * 8 * min(PRODUCTS_AT_ONCE, most_entries(size))
        return 2 * self.input_bytes(size) + vectors + temporary

    def input_bytes(self, size: GradientClass) -> int:
        """Values and columns."""
        return 12 * most_entries(size) + 8 * size.rows

    def operations(self, size: GradientClass) -> float:
        """By cg.f, which supposes that no two products of entries come to the same place."""
        entries = size.nonzeros * (size.nonzeros + 1)
        inner = INNER_STEPS * (5 + entries)
        return 2.0 * size.iterations * size.rows * (3 + entries + inner + 3)

    def generate(self, size: GradientClass) -> SparseMatrix:
        """The matrix."""
        return build_matrix(size)

    def run(self, size: GradientClass, given: SparseMatrix | None, loop: ParallelLoop) -> Outcome:
        """zeta does not notice skipped inner steps, so products are counted as well."""
        solver = Solver(given or build_matrix(size), loop)
        _iteration(solver, size, np.ones(size.rows))
        solver.products = 0
        began = perf_counter()
        x, zeta = np.ones(size.rows), 0.0
        for _ in range(size.iterations):
            x, zeta = _iteration(solver, size, x)
        seconds = perf_counter() - began
        is_complete = solver.products == PRODUCTS_AN_ITERATION * size.iterations
        verified = is_complete and abs(zeta - size.zeta) <= EPSILON * size.zeta
        return Outcome(verified, zeta, size.zeta, size.iterations, seconds)


def _iteration(solver: Solver, size: GradientClass, x: Vector) -> tuple[Vector, float]:
    """The next x, of length 1, and the estimate zeta."""
    z, _ = solver.solve(x, size.inner_steps)
    return z / np.linalg.norm(z), float(size.shift + 1 / (x @ z))
