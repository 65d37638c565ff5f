"""The matrix of CG: sum of w_i v_i v_i^T, plus (0.1 - shift) on the diagonal, by rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .classes import GradientClass
from .vectors import SparseVectors, draw_vectors

CONDITION = 0.1
"""The weights run from 1 to this: the reciprocal of the condition number."""
PRODUCTS_AT_ONCE = 2**18
"""Of two vector entries, while building: bounds what is temporary."""


class SparseMatrix(NamedTuple):
    """Compressed rows: row i has the entries row_starts[i] up to row_starts[i + 1], exclusive.

    Columns ascend within a row and come once; every row has its diagonal.
    """

    values: NDArray[np.float64]
    columns: NDArray[np.int32]
    row_starts: NDArray[np.int64]


def most_entries(size: GradientClass) -> int:
    """More than the matrix has: products of entries, before those of one place are added."""
    return size.rows * (size.nonzeros + 1) ** 2


def build_matrix(size: GradientClass) -> SparseMatrix:
    """A block of rows at a time, so that building takes little more memory than the matrix."""
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
    """Values, columns and lengths of the rows first .. last - 1, from the entries at their places.

    An entry (vector, place) adds its multiple of the whole vector to the row of its place.
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
