"""The matrix workload: the product of two matrices of 64-bit integers, the study's request.

It is exact, element by element or a block at a time. A unit of the loop is one element of the
product, in row-major order; its natural grain is a row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .workload import Body, InvalidRequestError, ParallelLoop, Workload

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
FLOAT64_EXACT_BELOW = 2**53
"""Integers below this are exact in binary64 (IEEE 754: 53 bits of significand)."""
ELEMENT_BYTES = 8

Operand = NDArray[Any]
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


@dataclass(frozen=True)
class MatrixWorkload(Workload[MatrixRequest, MatrixProduct]):
    """The kernel is part of the request. Its operands are in proportion to the body."""

    name = "matrix"

    def kind(self, value: MatrixRequest) -> str:
        """The kernels differ by a thousand times in what a multiplication takes."""
        return f"matrix {value.kernel}"

    def operations(self, value: MatrixRequest) -> float:
        """Multiplications."""
        return float(value.left.size * value.right.shape[1])

    def working_bytes(self, value: MatrixRequest) -> int:
        """The product, and its text with all numbers as long as they can be: a short body, a column
        times a row, can ask for a thousand times its size."""
        most = value.sums_at_most
        longest = len(str(INT64_MIN if most is None else max(INT64_MIN, -most)))
        elements: int = value.left.shape[0] * value.right.shape[1]
        return elements * (ELEMENT_BYTES + longest + 1)

    def compute(self, value: MatrixRequest, loop: ParallelLoop) -> MatrixProduct:
        """Error 006 if an element of the product does not fit 64 bits."""
        return MatrixProduct(value.request_id, multiply(value, loop))


def multiply(operands: MatrixRequest, loop: ParallelLoop) -> Matrix:
    """left (rows x inner) times right (inner x columns); error 006 if an element does not fit."""
    left, right = operands.left, operands.right
    body, dtype = _body_of(operands)
    product = loop.array((left.shape[0], right.shape[1]), np.int64)
    shared = [_for_tasks(operand, dtype, loop) for operand in (left, right)]
    loop.for_each(product.size, product.shape[1], body, *shared, product)
    return product


def _for_tasks(operand: Matrix, dtype: type, loop: ParallelLoop) -> Operand:
    shared = loop.array(operand.shape, dtype)
    shared[...] = operand
    return shared


def _body_of(operands: MatrixRequest) -> tuple[Body, type]:
    """The loop's body and the elements' type in it: as the kernel `loops` says, or of `native` the
    fastest arithmetic in which no partial sum, in whatever order, can be wrong.

    What reading has shown usually decides; to look for the largest elements takes as long as a
    small multiplication.
    """
    if operands.kernel == "loops":
        return multiply_by_loops, np.int64
    bound = operands.sums_at_most
    if bound is None or bound >= FLOAT64_EXACT_BELOW:
        left, right = operands.left, operands.right
        bound = left.shape[1] * _largest(left) * _largest(right)
    if bound < FLOAT64_EXACT_BELOW:
        return multiply_by_numpy, np.float64
    if bound <= INT64_MAX:
        return multiply_by_numpy, np.int64
    return multiply_by_loops, np.int64


def _largest(matrix: Matrix) -> int:
    """The largest absolute value, as an int because -2**63 has no opposite in 64 bits."""
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
    """Whole rows in one multiplication, an element of a part of a row in one dot product.

    By dot(): of few elements, `@` takes 1.5 to 2 times as long.
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
