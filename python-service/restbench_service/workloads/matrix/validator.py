"""Any request, read slowly and in the contract's order: 002, 003, 005, 004, 001.

Each step looks at the whole request before the next begins, so the code that is named does not
depend on where in the body the faults stand.
"""

import json
import re
from typing import Any, NamedTuple

import numpy as np

from ..strict_json import IntegerText, MalformedJsonError, RealText, read
from ..workload import InvalidRequestError
from .operands import INT64_MAX, INT64_MIN, Operands

INNER_SIZES_DIFFER = "Invalid number of columns and rows for multiplication"
KERNELS = ("loops", "native")
MAX_ID_CHARACTERS = 128
_ECHO_CHARACTERS = 24  # the contract allows 40
_ELEMENT = re.compile(" *(-?)([0-9]+) *")


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
    request = _well_formed(body)
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
    return Operands(request_id, np.array(left, np.int64), np.array(right, np.int64))


def readable_id(body: bytes) -> str | int | None:
    """The request's id if the body is well-formed and the id right, otherwise None."""
    try:
        return _id(_well_formed(body))
    except InvalidRequestError:
        return None


def _well_formed(body: bytes) -> dict[str, Any]:
    try:
        request = read(body)
    except MalformedJsonError as error:
        raise InvalidRequestError("002", str(error)) from error
    if not isinstance(request, dict):
        raise InvalidRequestError("002", f"the body is {_kind(request)}, not an object")
    return request


def _kernel_and_id(request: dict[str, Any], kernel: str) -> str | int:
    if kernel not in KERNELS:
        message = f"kernel: {_echo(kernel)} is not one of {', '.join(KERNELS)}"
        raise InvalidRequestError("003", message, _id(request))
    request_id = _id(request)
    if request_id is None:
        rule = f"a string of 1 to {MAX_ID_CHARACTERS} characters or a 64-bit integer"
        raise InvalidRequestError("003", f"requestId: must be {rule}")
    return request_id


def _id(request: dict[str, Any]) -> str | int | None:
    value = request.get("requestId")
    if isinstance(value, IntegerText):
        return _int64(value)
    is_text = type(value) is str and 1 <= len(value) <= MAX_ID_CHARACTERS
    return value if is_text else None


def _structure(request: dict[str, Any], name: str) -> _Rows:
    matrix = _member(request, name, dict, "an object", name)
    place = f"{name}.columnCount"
    column_count = _member(matrix, "columnCount", IntegerText, "an integer", place)
    if column_count.startswith("-") or column_count == "0":
        raise InvalidRequestError("003", f"{place}: must be at least 1")
    rows = _member(matrix, "rows", list, "an array", f"{name}.rows")
    if not rows:
        raise InvalidRequestError("003", f"{name}.rows: must not be empty")
    return _Rows(name, column_count, [_row(row, f"{name}.rows[{i}]") for i, row in enumerate(rows)])


def _member(owner: dict[str, Any], name: str, kind: type, kind_name: str, place: str) -> Any:
    if name not in owner:
        raise InvalidRequestError("003", f"{place}: is missing")
    if not isinstance(owner[name], kind):
        raise InvalidRequestError("003", f"{place}: is {_kind(owner[name])}, not {kind_name}")
    return owner[name]


def _row(row: Any, place: str) -> list[Any]:
    if not isinstance(row, dict):
        raise InvalidRequestError("003", f"{place}: is {_kind(row)}, not an object")
    if "value" not in row:
        raise InvalidRequestError("003", f"{place}.value: is missing")
    value = row["value"]
    if type(value) is not str and not isinstance(value, list):
        raise InvalidRequestError(
            "003", f"{place}.value: is {_kind(value)}, not a string or an array"
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
    value = _int64(item) if isinstance(item, IntegerText | _Piece) else None
    if value is None:
        raise InvalidRequestError("005", f"{place}: {_echo(item)} is not a 64-bit integer")
    return value


def _int64(text: str) -> int | None:
    """-?[0-9]+ with spaces around it, if it fits; digits are counted before they are converted."""
    match = _ELEMENT.fullmatch(text)
    if match is None:
        return None
    digits = match[2].lstrip("0") or "0"
    value = int(match[1] + digits) if len(digits) <= len(str(INT64_MAX)) else INT64_MAX + 1
    return value if INT64_MIN <= value <= INT64_MAX else None


def _check_sizes(matrix: _Rows) -> None:
    for i, row in enumerate(matrix.rows):
        if str(len(row)) != matrix.column_count:
            values = f"{len(row)} value{'s' if len(row) > 1 else ''}"
            message = f"{values}, columnCount is {_short(matrix.column_count)}"
            raise InvalidRequestError("004", f"{matrix.name}.rows[{i}]: {message}")


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    return "null" if value is None else names.get(type(value), "a number")


def _echo(item: Any) -> str:
    """What was sent, made safe to print and short; a container only by its kind."""
    if isinstance(item, IntegerText | RealText):
        return _short(item)
    return json.dumps(_short(item), ensure_ascii=False) if isinstance(item, str) else _kind(item)


def _short(text: str) -> str:
    return text if len(text) <= _ECHO_CHARACTERS else text[:_ECHO_CHARACTERS] + "..."
