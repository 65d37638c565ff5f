"""CG: the smallest eigenvalue of a random sparse matrix, by conjugate gradients (NPB 3.4, cg.f).

The matrix is the sum of w_i v_i v_i^T over sparse random vectors v_i, plus (0.1 - shift) on the
diagonal, stored by rows. A product with the matrix is a loop over blocks of rows. A run has one
untimed inverse iteration with the shift, then all timed ones from the same start.
"""

from bisect import bisect_left
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..workload import ParallelLoop, for_tasks
from . import random_numbers
from .kernel import Outcome, block_count, lines_of

Vector = NDArray[np.float64]
INNER_STEPS = 25
PRODUCTS_AN_ITERATION = INNER_STEPS + 1
EPSILON = 1e-10
DIAGONAL = 0.5
"""The value of vector i at place i."""
CONDITION = 0.1
"""The weights run from 1 to this: the reciprocal of the condition number."""
PRODUCTS_AT_ONCE = 2**18
"""Products of two vector entries that are computed at a time: bounds the memory of building."""
ROWS_AT_ONCE = 1024
"""About 150 000 entries: the factors gathered for them stay in a core's cache."""


@dataclass(frozen=True)
class GradientClass:
    """The matrix is rows x rows; each of its generating vectors has `nonzeros` random entries."""

    rows: int
    nonzeros: int
    iterations: int
    shift: float
    zeta: float


CLASSES = {
    "S": GradientClass(1400, 7, 15, 10.0, 8.5971775078648),
    "W": GradientClass(7000, 8, 15, 12.0, 10.362595087124),
    "A": GradientClass(14000, 11, 15, 20.0, 17.130235054029),
    "B": GradientClass(75000, 13, 75, 60.0, 22.712745482631),
    "C": GradientClass(150000, 15, 75, 110.0, 28.973605592845),
}


class SparseVectors(NamedTuple):
    """One vector per row: places and values are both rows x entries; a place may occur twice."""

    places: NDArray[np.int64]
    values: NDArray[np.float64]


def draw_vectors(size: GradientClass) -> SparseVectors:
    """Vector i has `nonzeros` different random places and place i."""
    places, values = _draw_entries(size)
    shape = (size.rows, size.nonzeros)
    places, values = places.reshape(shape), values.reshape(shape)
    own = np.arange(size.rows)[:, None]
    is_own = places == own
    values[is_own] = DIAGONAL
    last_value = np.where(is_own.any(axis=1, keepdims=True), 0.0, DIAGONAL)
    return SparseVectors(np.hstack((places, own)), np.hstack((values, last_value)))


def _draw_entries(size: GradientClass) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The places and values of all vectors as flat arrays, in the order they are drawn.

    The stream is value, place, value, place, … after one number that is not used. A place outside
    the matrix is skipped with its value, and so is a place that its vector already has.
    """
    wanted = size.rows * size.nonzeros
    place_bits = (size.rows - 1).bit_length()
    draws = wanted * 2**place_bits // size.rows
    draws += draws // 16 + 1024  # a margin for chance and repetitions
    numbers = random_numbers.states(1, 2 * draws).reshape(-1, 2)
    places = (numbers[:, 1] >> np.uint64(random_numbers.BITS - place_bits)).astype(np.int64)
    inside = np.flatnonzero(places < size.rows)
    kept = np.delete(inside, _repeated(places[inside], size.nonzeros))[:wanted]
    return places[kept], numbers[kept, 0] * random_numbers.UNIT


def _repeated(places: NDArray[np.int64], nonzeros: int) -> list[int]:
    """The indices of places that their vector already has, ascending.

    Whether a place is repeated depends on where its vector begins, and so on all places skipped
    before. Only the few places that occur twice within a short distance have to be examined.
    """
    skipped: list[int] = []
    for later, earlier in _close_pairs(places, 4 * nonzeros):
        vector = (later - len(skipped)) // nonzeros
        if (earlier - bisect_left(skipped, earlier)) // nonzeros == vector:
            skipped.append(later)
    return skipped


def _close_pairs(places: NDArray[np.int64], distance: int) -> list[Any]:
    """[index, previous index of the same place], at most `distance` apart, by ascending index."""
    order = np.argsort(places, kind="stable")
    earlier, later = order[:-1], order[1:]
    is_pair = (places[earlier] == places[later]) & (later - earlier <= distance)
    pairs = np.stack((later[is_pair], earlier[is_pair]), axis=1)
    found: list[Any] = pairs[np.argsort(pairs[:, 0])].tolist()
    return found


class SparseMatrix(NamedTuple):
    """Compressed rows: row i has the entries row_starts[i] up to row_starts[i + 1], exclusive.

    Columns are unique and ascend within a row; every row has its diagonal entry.
    """

    values: NDArray[np.float64]
    columns: NDArray[np.int32]
    row_starts: NDArray[np.int64]


def most_entries(size: GradientClass) -> int:
    """An upper bound: the products of vector entries, before those at one place are added."""
    return size.rows * (size.nonzeros + 1) ** 2


def build_matrix(size: GradientClass) -> SparseMatrix:
    """The matrix, built by blocks of rows so that the temporary memory is small next to it."""
    vectors = draw_vectors(size)
    order = np.argsort(vectors.places, axis=None, kind="stable")
    of_row = np.bincount(vectors.places.ravel(), minlength=size.rows)
    ends = np.concatenate(([0], np.cumsum(of_row)))
    rows_at_once = max(1, PRODUCTS_AT_ONCE * size.rows // most_entries(size))
    parts = []
    for first in range(0, size.rows, rows_at_once):
        last = min(first + rows_at_once, size.rows)
        parts.append(_rows(size, vectors, order[ends[first] : ends[last]], first, last))
    values, columns, lengths = (np.concatenate(part) for part in zip(*parts, strict=True))
    return SparseMatrix(values, columns, np.concatenate(([0], np.cumsum(lengths))))


def _rows(
    size: GradientClass, vectors: SparseVectors, entries: NDArray[np.int64], first: int, last: int
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]:
    """Values, columns and lengths of the rows first .. last - 1.

    `entries` are the indices of the vector entries whose place is one of these rows. Each entry
    adds a multiple of its whole vector to the row.
    """
    vector = entries // vectors.places.shape[1]
    weights = CONDITION ** (vector / size.rows)
    multiple = weights * vectors.values.ravel()[entries]
    products = (multiple[:, None] * vectors.values[vector]).ravel()
    row = vectors.places.ravel()[entries]
    keys = (row[:, None] * size.rows + vectors.places[vector]).ravel()
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    rows, columns = np.divmod(keys[starts], size.rows)
    values = np.add.reduceat(products[order], starts)
    values[rows == columns] += CONDITION - size.shift
    return values, columns.astype(np.int32), np.bincount(rows - first, minlength=last - first)


class Solver:
    """A matrix that the tasks of a loop can read. `products` counts products with the matrix."""

    def __init__(self, matrix: SparseMatrix, loop: ParallelLoop) -> None:
        self._loop = loop
        self._matrix = [for_tasks(part, part.dtype, loop) for part in matrix]
        self._rows = matrix.row_starts.size - 1
        self._blocks = block_count(matrix.values.size, self._rows)
        self._factor: Vector = loop.array((self._rows,), np.float64)
        self._product: Vector = loop.array((self._rows,), np.float64)
        self.products = 0

    def solve(self, x: Vector, steps: int) -> tuple[Vector, float]:
        """The approximate solution z of A z = x after so many steps, and the norm of x - A z."""
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
    """Compute blocks of rows of the product. `arrays` is matrix parts, factor and product."""
    values, columns, row_starts, factor, product = arrays
    low, high = lines_of(start, stop, blocks, product.size)
    for row in range(low, high, ROWS_AT_ONCE):
        end = min(row + ROWS_AT_ONCE, high)
        starts = row_starts[row : end + 1]
        entries = slice(starts[0], starts[-1])
        terms = factor.take(columns[entries], mode="clip")
        terms *= values[entries]
        np.add.reduceat(terms, starts[:-1] - starts[0], out=product[row:end])


class ConjugateGradient:
    """The kernel CG. Its input is the matrix."""

    classes = CLASSES

    def memory_bytes(self, size: GradientClass) -> int:
        """See Kernel. The matrix and its blocks, later the tasks' copy; vectors; temporaries."""
        vectors = 8 * size.rows * (4 * (size.nonzeros + 1) + 8)
        # While a block of rows is built: products, keys, their order and sorted copies.
        temporary = 8 * 8 * min(PRODUCTS_AT_ONCE, most_entries(size))
        return 2 * self.input_bytes(size) + vectors + temporary

    def input_bytes(self, size: GradientClass) -> int:
        """See Kernel. The values, columns and row starts."""
        return 12 * most_entries(size) + 8 * size.rows

    def operations(self, size: GradientClass) -> float:
        """See Kernel. The formula of cg.f assumes that no two products add to the same entry."""
        entries = size.nonzeros * (size.nonzeros + 1)
        inner = INNER_STEPS * (5 + entries)
        return 2.0 * size.iterations * size.rows * (3 + entries + inner + 3)

    def generate(self, size: GradientClass) -> SparseMatrix:
        """See Kernel. The matrix."""
        return build_matrix(size)

    def run(self, size: GradientClass, given: SparseMatrix | None, loop: ParallelLoop) -> Outcome:
        """See Kernel. Products are counted, too: zeta would not reveal skipped inner steps."""
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
    """One inverse iteration: the next x, of norm 1, and the estimate zeta."""
    z, _ = solver.solve(x, INNER_STEPS)
    return z / np.linalg.norm(z), float(size.shift + 1 / (x @ z))
