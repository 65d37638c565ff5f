"""The rules for the members of a matrix request, each over the whole request before the next."""

from __future__ import annotations

from typing import NamedTuple

from .integers import element, int64, positive
from .strict_json import Json
from .verdict import Violation

MOST_ID_CHARACTERS = 128
MOST_ECHO_DIGITS = 24

Rows = list[list[int]]


class _Piece(NamedTuple):
    """What stands between two commas of a value that is a string."""

    text: str


class _Matrix(NamedTuple):
    """Members of the right types: the rows cut into elements that are not looked at yet."""

    name: str
    column_count: str
    rows: list[list[Json | _Piece]]


def operands(request: dict[str, Json]) -> tuple[Rows, Rows]:
    """Two matrices that can be multiplied; Violation 003, 005, 004 or 001."""
    matrices = [_members(request, name) for name in ("matrixOne", "matrixTwo")]
    one, two = [_values(matrix) for matrix in matrices]
    for matrix in matrices:
        _check_sizes(matrix)
    if len(one[0]) != len(two):
        raise Violation("001", "Invalid number of columns and rows for multiplication")
    return one, two


def right_id(request: dict[str, Json]) -> str | int | None:
    """The request's id if it is one."""
    value = request.get("requestId")
    if isinstance(value, str):
        return value if 1 <= len(value) <= MOST_ID_CHARACTERS else None
    return int64(value)


def _members(request: dict[str, Json], name: str) -> _Matrix:
    matrix = request.get(name)
    if not isinstance(matrix, dict):
        raise Violation("003", f"{name}: must be an object with columnCount and rows")
    column_count = positive(matrix.get("columnCount"))
    if column_count is None:
        raise Violation("003", f"{name}.columnCount: must be an integer of at least 1")
    rows = matrix.get("rows")
    if not isinstance(rows, list) or not rows:
        raise Violation("003", f"{name}.rows: must be an array of at least one row")
    pieces = [_pieces(row, f"{name}.rows[{index}]") for index, row in enumerate(rows)]
    return _Matrix(name, column_count, pieces)


def _pieces(row: Json, place: str) -> list[Json | _Piece]:
    if not isinstance(row, dict):
        raise Violation("003", f"{place}: must be an object with value")
    value = row.get("value")
    if isinstance(value, list) and value:
        return list(value)
    if isinstance(value, str) and value:
        return [_Piece(text) for text in value.split(",")]
    raise Violation("003", f"{place}.value: must be a non-empty string or array of integers")


def _values(matrix: _Matrix) -> Rows:
    return [
        [_value(piece, f"{matrix.name}.rows[{i}].value[{j}]") for j, piece in enumerate(row)]
        for i, row in enumerate(matrix.rows)
    ]


def _value(piece: Json | _Piece, place: str) -> int:
    value = element(piece.text) if isinstance(piece, _Piece) else int64(piece)
    if value is None:
        raise Violation("005", f"{place}: must be an integer that fits 64 bits")
    return value


def _check_sizes(matrix: _Matrix) -> None:
    for index, row in enumerate(matrix.rows):
        count = matrix.column_count
        if str(len(row)) != count:
            shown = count if len(count) <= MOST_ECHO_DIGITS else count[:MOST_ECHO_DIGITS] + "..."
            place = f"{matrix.name}.rows[{index}]"
            raise Violation(
                "004", f"{place}: the number of values is {len(row)}, columnCount is {shown}"
            )
