"""The product of two matrices of 64-bit integers, exact, element by element or a block at a time.

A unit of the loop is one element of the product, in row-major order; its natural grain is a row.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..workload import Body, InvalidRequestError, ParallelLoop
from .request import Matrix, MatrixRequest

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
FLOAT64_EXACT_BELOW = 2**53
"""Integers below this are exact in binary64 (IEEE 754: 53 bits of significand)."""

Operand = NDArray[Any]


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
