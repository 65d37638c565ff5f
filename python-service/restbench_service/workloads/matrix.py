"""The matrix workload, the study's request: the product of two matrices of 64-bit integers.

The product is exact with either kernel. A unit of the loop is one element of the product, in
row-major order; the natural grain is a row.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .workload import Body, InvalidRequestError, ParallelLoop, Workload, for_tasks

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
FLOAT64_EXACT_BELOW = 2**53
"""Integers below this are exact in binary64 (IEEE 754: 53 bits of significand)."""
ELEMENT_BYTES = 8

Operand = NDArray[Any]
Matrix = NDArray[np.int64]
"""Rows x columns, row-major."""


@dataclass(frozen=True, eq=False)
class MatrixRequest:
    """A valid request: left is rows x inner, right is inner x columns.

    `left_at_most` and `right_at_most` bound the absolute values of the elements; None if parsing
    gave no bound.
    """

    request_id: str | int
    kernel: str
    """The way to multiply that the request asks for: `loops` or `native`."""
    left: Matrix
    right: Matrix
    left_at_most: int | None = None
    right_at_most: int | None = None

    @property
    def sums_at_most(self) -> int | None:
        """A bound on the absolute value of any partial sum of an element; None if unknown."""
        if self.left_at_most is None or self.right_at_most is None:
            return None
        inner: int = self.left.shape[1]
        return inner * self.left_at_most * self.right_at_most

    @cached_property
    def largest_sum(self) -> int:
        """inner * largest |left| * largest |right|, or a bound on it that is below 2**53.

        The bounds from parsing usually decide. Only if they do not, the largest elements are
        searched for, which takes as long as a small multiplication.
        """
        bound = self.sums_at_most
        if bound is None or bound >= FLOAT64_EXACT_BELOW:
            bound = self.left.shape[1] * _largest(self.left) * _largest(self.right)
        return bound


@dataclass(frozen=True, eq=False)
class MatrixProduct:
    """The answer: the product, rows x columns."""

    request_id: str | int
    rows: Matrix


@dataclass(frozen=True)
class MatrixWorkload(Workload[MatrixRequest, MatrixProduct]):
    """The product by the request's kernel. working_bytes leaves out the operands, whose memory is
    proportional to the body."""

    name = "matrix"

    def kind(self, value: MatrixRequest) -> str:
        """One kind per kernel: the times of a multiplication differ by a factor of a thousand.
        Where sums may not fit 64 bits, `native` multiplies by loops."""
        is_by_loops = _body_of(value)[0] is multiply_by_loops
        return "matrix loops" if is_by_loops else "matrix native"

    def operations(self, value: MatrixRequest) -> float:
        """The number of multiplications of two elements."""
        return float(value.left.size * value.right.shape[1])

    def units(self, value: MatrixRequest) -> int:
        """The elements of the product."""
        elements: int = value.left.shape[0] * value.right.shape[1]
        return elements

    def working_bytes(self, value: MatrixRequest) -> int:
        """The product, and its text with numbers of the greatest length. A short body, a column
        times a row, can ask for a product of a thousand times the body's size."""
        most = value.sums_at_most
        longest = len(str(INT64_MIN if most is None else max(INT64_MIN, -most)))
        return self.units(value) * (ELEMENT_BYTES + longest + 1)

    def compute(self, value: MatrixRequest, loop: ParallelLoop) -> MatrixProduct:
        """Raises InvalidRequestError 006 if an element of the product does not fit 64 bits."""
        return MatrixProduct(value.request_id, multiply(value, loop))


def multiply(operands: MatrixRequest, loop: ParallelLoop) -> Matrix:
    """left (rows x inner) times right (inner x columns). Raises InvalidRequestError 006."""
    left, right = operands.left, operands.right
    body, dtype = _body_of(operands)
    product = loop.array((left.shape[0], right.shape[1]), np.int64)
    shared = [for_tasks(operand, dtype, loop) for operand in (left, right)]
    loop.for_each(product.size, product.shape[1], body, *shared, product)
    return product


def _body_of(operands: MatrixRequest) -> tuple[Body, type]:
    """The loop's body and the operands' element type. The kernel `native` takes the fastest
    arithmetic in which every partial sum is exact, in any order of summation."""
    if operands.kernel == "loops":
        return multiply_by_loops, np.int64
    bound = operands.largest_sum
    if bound < FLOAT64_EXACT_BELOW:
        return multiply_by_numpy, np.float64
    if bound <= INT64_MAX:
        return multiply_by_numpy, np.int64
    return multiply_by_loops, np.int64


def _largest(matrix: Matrix) -> int:
    """The largest absolute value, as a Python int because 2**63 does not fit 64 bits."""
    return max(-int(matrix.min()), int(matrix.max()))


_DOES_NOT_FIT = "rows[{}][{}]: the product's element does not fit 64 bits"


def multiply_by_loops(start: int, stop: int, left: Matrix, right: Matrix, product: Matrix) -> None:
    """The plain triple loop of the study on Python's integers, which are exact at any size."""
    column_count = product.shape[1]
    columns: dict[int, list[int]] = {}
    for row in range(start // column_count, (stop - 1) // column_count + 1):
        row_values = left[row].tolist()
        first = max(start - row * column_count, 0)
        for column in range(first, min(stop - row * column_count, column_count)):
            if column not in columns:
                columns[column] = right[:, column].tolist()
            element = 0
            for left_value, right_value in zip(row_values, columns[column], strict=True):
                element += left_value * right_value
            if not INT64_MIN <= element <= INT64_MAX:
                raise InvalidRequestError("006", _DOES_NOT_FIT.format(row, column))
            product[row, column] = element


def multiply_by_numpy(
    start: int, stop: int, left: Operand, right: Operand, product: Matrix
) -> None:
    """Compute whole rows by one multiplication, each element of a partial row by one dot product.

    dot() is used because `@` takes 1.5 to 2 times as long for few elements.
    """
    column_count = product.shape[1]
    first_whole, after_whole = -(-start // column_count), stop // column_count
    if first_whole < after_whole:
        product[first_whole:after_whole] = left[first_whole:after_whole].dot(right)
        parts = [(start, first_whole * column_count), (after_whole * column_count, stop)]
    else:
        parts = [(start, stop)]
    for part_start, part_stop in parts:
        for unit in range(part_start, part_stop):
            row, column = divmod(unit, column_count)
            product[row, column] = left[row].dot(right[:, column])
