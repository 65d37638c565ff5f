"""Any request, read slowly and in the contract's order: 002, 003, 005, 004, 001.

Each step looks at the whole request before the next begins, so the code that is named does not
depend on where in the body the faults stand.
"""

from typing import Any, NamedTuple

import numpy as np

from ..workloads.matrix.operands import Operands
from ..workloads.workload import InvalidRequestError
from .integers import int64
from .request_object import echo, id_of, kind, member, read_object, required_id, short
from .strict_json import IntegerText

INNER_SIZES_DIFFER = "Invalid number of columns and rows for multiplication"
KERNELS = ("loops", "native")


class _Piece(str):
    """What stands between two commas of a value string."""

    __slots__ = ()


class _Rows(NamedTuple):
    """A matrix of the right structure: its values cut into elements, not yet converted."""

    name: str
    column_count: IntegerText
    rows: list[list[Any]]


def validate(body: bytes, kernel: str) -> Operands:
    """The operands, or InvalidRequestError with the first code that applies."""
    request = read_object(body)
    request_id = _kernel_and_id(request, kernel)
    try:
        one, two = (_structure(request, name) for name in ("matrixOne", "matrixTwo"))
        left, right = (_elements(matrix) for matrix in (one, two))
        for matrix in (one, two):
            _check_sizes(matrix)
        if len(left[0]) != len(right):
            raise InvalidRequestError("001", INNER_SIZES_DIFFER)
    except InvalidRequestError as error:
        raise InvalidRequestError(error.code, error.message, request_id) from None
    return Operands(request_id, kernel, np.array(left, np.int64), np.array(right, np.int64))


def _kernel_and_id(request: dict[str, Any], kernel: str) -> str | int:
    if kernel not in KERNELS:
        message = f"kernel: {echo(kernel)} is not one of {', '.join(KERNELS)}"
        raise InvalidRequestError("003", message, id_of(request))
    return required_id(request)


def _structure(request: dict[str, Any], name: str) -> _Rows:
    matrix = member(request, name, dict, "an object", name)
    place = f"{name}.columnCount"
    column_count = member(matrix, "columnCount", IntegerText, "an integer", place)
    if column_count.startswith("-") or column_count == "0":
        raise InvalidRequestError("003", f"{place}: must be at least 1")
    rows = member(matrix, "rows", list, "an array", f"{name}.rows")
    if not rows:
        raise InvalidRequestError("003", f"{name}.rows: must not be empty")
    return _Rows(name, column_count, [_row(row, f"{name}.rows[{i}]") for i, row in enumerate(rows)])


def _row(row: Any, place: str) -> list[Any]:
    if not isinstance(row, dict):
        raise InvalidRequestError("003", f"{place}: is {kind(row)}, not an object")
    if "value" not in row:
        raise InvalidRequestError("003", f"{place}.value: is missing")
    value = row["value"]
    if type(value) is not str and not isinstance(value, list):
        raise InvalidRequestError(
            "003", f"{place}.value: is {kind(value)}, not a string or an array"
        )
    if not value:
        raise InvalidRequestError("003", f"{place}.value: must not be empty")
    return [_Piece(piece) for piece in value.split(",")] if isinstance(value, str) else value


def _elements(matrix: _Rows) -> list[list[int]]:
    return [
        [_element(item, f"{matrix.name}.rows[{i}].value[{j}]") for j, item in enumerate(row)]
        for i, row in enumerate(matrix.rows)
    ]


def _element(item: Any, place: str) -> int:
    value = int64(item) if isinstance(item, IntegerText | _Piece) else None
    if value is None:
        raise InvalidRequestError("005", f"{place}: {echo(item)} is not a 64-bit integer")
    return value


def _check_sizes(matrix: _Rows) -> None:
    for i, row in enumerate(matrix.rows):
        if str(len(row)) != matrix.column_count:
            values = f"{len(row)} value{'s' if len(row) > 1 else ''}"
            message = f"{values}, columnCount is {short(matrix.column_count)}"
            raise InvalidRequestError("004", f"{matrix.name}.rows[{i}]: {message}")
