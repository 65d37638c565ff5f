"""The values of the matrix workload between its stages."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.int64]
"""Rows x columns, row-major."""


@dataclass(frozen=True, eq=False)
class MatrixRequest:
    """A right request: left is rows x inner, right is inner x columns.

    No element of left has an absolute value above `left_at_most`, and so for right; None where
    reading the matrix did not show it.
    """

    request_id: str | int
    kernel: str
    """How to multiply, as the request asks: `loops` or `native`."""
    left: Matrix
    right: Matrix
    left_at_most: int | None = None
    right_at_most: int | None = None

    @property
    def sums_at_most(self) -> int | None:
        """No sum of some of the products that make an element is larger; None if not shown."""
        if self.left_at_most is None or self.right_at_most is None:
            return None
        inner: int = self.left.shape[1]
        return inner * self.left_at_most * self.right_at_most


@dataclass(frozen=True, eq=False)
class MatrixProduct:
    """The answer: rows x columns."""

    request_id: str | int
    rows: Matrix
