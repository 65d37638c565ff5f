"""The usual request, read fast: a typed decode and one vectorised conversion a matrix.

It never says what is wrong. Whatever it is not sure of is None, and the validator reads it again.
"""

from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..workloads.matrix.operands import Matrix, Operands
from . import digits
from .integers import INT64_MAX, INT64_MIN

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


class _Rows(NamedTuple):
    """A matrix's rows, all strings or all arrays, and the JSON strings in them, names too.

    Unknown members are refused and nothing is escaped: each further quote is a duplicate's.
    """

    values: list[Any]
    columns: int
    is_text: bool
    strings: int


_DECODER = msgspec.json.Decoder(_Request)
_MEMBER_NAMES = 7  # requestId, two matrices, columnCount and rows of each


def read(body: bytes, kernel: str) -> Operands | None:
    """The operands of a body that is right beyond doubt, otherwise None."""
    if b"\\" in body:  # escapes could hide names and surrogates
        return None
    try:
        request = _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    one, two = _rows_of(request.matrixOne), _rows_of(request.matrixTwo)
    if one is None or two is None or not _is_right_id(request.requestId):
        return None
    strings = _MEMBER_NAMES + isinstance(request.requestId, str) + one.strings + two.strings
    if body.count(b'"') != 2 * strings:  # msgspec keeps a duplicate's last value in silence
        return None
    left, right = _matrix(one), _matrix(two)
    if left is None or right is None or left[0].shape[1] != right[0].shape[0]:
        return None
    return Operands(request.requestId, kernel, left[0], right[0], left[1], right[1])


def _is_right_id(request_id: str | int) -> bool:
    if isinstance(request_id, str):
        return 1 <= len(request_id) <= 128
    return INT64_MIN <= request_id <= INT64_MAX


def _rows_of(matrix: _Matrix) -> _Rows | None:
    values = [row.value for row in matrix.rows]
    kinds = set(map(type, values))
    if len(kinds) != 1 or matrix.columnCount < 1:
        return None
    is_text = str in kinds
    return _Rows(values, matrix.columnCount, is_text, len(values) * (1 + is_text))


def _matrix(rows: _Rows) -> tuple[Matrix, int | None] | None:
    """With the largest absolute value that may be in it, where reading has shown one."""
    read = digits.matrix_of if rows.is_text else _from_arrays
    return read(rows.values, rows.columns)


def _from_arrays(values: list[list[int]], columns: int) -> tuple[Matrix, None] | None:
    if {len(value) for value in values} != {columns}:
        return None
    try:
        return np.array(values, dtype=np.int64), None
    except OverflowError:
        return None
