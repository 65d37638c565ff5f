"""The usual request, read fast: a typed decode and one vectorised conversion a matrix.

It never says what is wrong. Whatever it is not sure of is None, and the validator reads it again.
"""

import msgspec
import numpy as np

from ..integers import INT64_MAX, INT64_MIN
from . import digits
from .operands import Matrix, Operands

Value = str | list[int]


class _Row(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    value: Value


class _Matrix(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    columnCount: int  # noqa: N815 - the contract's spelling
    rows: list[_Row]


class _Request(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    requestId: str | int  # noqa: N815
    matrixOne: _Matrix  # noqa: N815
    matrixTwo: _Matrix  # noqa: N815


_DECODER = msgspec.json.Decoder(_Request)
_MEMBER_NAMES = 7  # requestId, two matrices, columnCount and rows of each


def read(body: bytes) -> Operands | None:
    """The operands of a body that is right beyond doubt, otherwise None."""
    if b"\\" in body:  # escapes could hide names and surrogates
        return None
    try:
        request = _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if body.count(b'"') != _expected_quotes(request) or not _is_right_id(request.requestId):
        return None
    left, right = _matrix(request.matrixOne), _matrix(request.matrixTwo)
    if left is None or right is None or left[0].shape[1] != right[0].shape[0]:
        return None
    return Operands(request.requestId, left[0], right[0], left[1], right[1])


def _expected_quotes(request: _Request) -> int:
    """The quotes of a body without duplicates: msgspec keeps a duplicate's last value in silence.

    Unknown members are refused and nothing is escaped, so each further quote is a duplicate's.
    """
    strings = _MEMBER_NAMES + isinstance(request.requestId, str)
    for matrix in (request.matrixOne, request.matrixTwo):
        strings += len(matrix.rows) + sum(isinstance(row.value, str) for row in matrix.rows)
    return 2 * strings


def _is_right_id(request_id: str | int) -> bool:
    if isinstance(request_id, str):
        return 1 <= len(request_id) <= 128
    return INT64_MIN <= request_id <= INT64_MAX


def _matrix(matrix: _Matrix) -> tuple[Matrix, int | None] | None:
    """With the largest absolute value that may be in it, where reading has shown one."""
    values = [row.value for row in matrix.rows]
    if not values or matrix.columnCount < 1:
        return None
    if all(isinstance(value, str) for value in values):
        return digits.matrix_of(values, matrix.columnCount)  # type: ignore[arg-type]
    if all(isinstance(value, list) for value in values):
        return _from_arrays(values, matrix.columnCount)  # type: ignore[arg-type]
    return None


def _from_arrays(values: list[list[int]], columns: int) -> tuple[Matrix, None] | None:
    if {len(value) for value in values} != {columns}:
        return None
    try:
        return np.array(values, dtype=np.int64), None
    except OverflowError:
        return None
