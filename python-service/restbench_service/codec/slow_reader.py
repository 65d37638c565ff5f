"""The slow reader: reads any matrix request and reports the first fault in the contract's order.

Each step checks the whole request before the next step begins, so the reported code does not depend
on where in the body the faults are. To save memory, only one row is decoded at a time.
"""

import re
from typing import NamedTuple

import msgspec
import numpy as np

from ..workloads.matrix import Matrix
from ..workloads.workload import InvalidRequestError
from . import digits
from .codec import MISSING, Members, int64, read_request
from .strict_json import MAX_DEPTH, STRING, items, next_element

INNER_SIZES_DIFFER = "Invalid number of columns and rows for multiplication"
_SHOWN_DIGITS = 24
_WHITE = b" \t\r\n"


class _Members(Members, gc=False):
    matrixOne: msgspec.Raw = MISSING  # noqa: N815 - the contract's spelling
    matrixTwo: msgspec.Raw = MISSING  # noqa: N815


class _Matrix(msgspec.Struct, gc=False):
    columnCount: msgspec.Raw = MISSING  # noqa: N815
    rows: msgspec.Raw = MISSING


class _Row(msgspec.Struct, gc=False):
    value: msgspec.Raw = MISSING


class _Structure(NamedTuple):
    """A matrix that has all members. `columns` is columnCount as it was sent; `rows` has for each
    row the unchecked elements, separated by commas."""

    name: str
    columns: bytes
    rows: list[bytes]


def _object_pattern() -> bytes:
    """A pattern of one JSON object, with up to MAX_DEPTH levels in it, in text known to be JSON."""
    inner = rb'(?:[^\[\]"{}]++|%b)*+' % STRING
    for _ in range(MAX_DEPTH):
        inner = rb'(?:[^\[\]"{}]++|%b|[\[{]%b[\]}])*+' % (STRING, inner)
    return rb"\{%b\}" % inner


_MEMBERS = msgspec.json.Decoder(_Members)
_MATRIX, _ROW = msgspec.json.Decoder(_Matrix), msgspec.json.Decoder(_Row)
_NEXT_ROW = next_element(_object_pattern())
_COLUMNS = re.compile(rb"[1-9][0-9]*+")
_FITTING = re.compile(rb"(?>(?: *+-?[0-9]{1,18}+ *+(?:,|\Z)){0,1000})")
"""Up to 1000 elements that surely fit 64 bits, each with the comma after it."""


def read(body: bytes, wrong_query: str | None = None) -> tuple[str | int, Matrix, Matrix]:
    """The id and both matrices. Raises InvalidRequestError with the first code that applies.

    `wrong_query` is the message of 003 for an invalid query parameter. A malformed body (002) is
    reported before it.
    """
    members, request_id = read_request(body, _MEMBERS, wrong_query)
    try:
        one = _structure("matrixOne", members.matrixOne)
        two = _structure("matrixTwo", members.matrixTwo)
        for check in (_check_elements, _check_sizes):
            for matrix in (one, two):
                check(matrix)
        if int(one.columns) != len(two.rows):
            raise InvalidRequestError("001", INNER_SIZES_DIFFER)
    except InvalidRequestError as error:
        raise InvalidRequestError(error.code, error.message, request_id) from None
    return request_id, _converted(one), _converted(two)


def _structure(name: str, member: msgspec.Raw) -> _Structure:
    if bytes(memoryview(member)[:1]) != b"{":
        raise InvalidRequestError("003", f"{name}: must be an object with columnCount and rows")
    matrix = _MATRIX.decode(member)
    columns, rows = bytes(matrix.columnCount), bytes(matrix.rows)
    if not _COLUMNS.fullmatch(columns):
        raise InvalidRequestError("003", f"{name}.columnCount: must be an integer of at least 1")
    found = list[bytes]()
    for row in items(rows, _NEXT_ROW):
        place = f"{name}.rows[{len(found)}]"
        if row is None:
            raise InvalidRequestError("003", f"{place}: must be an object with value")
        numbers = _numbers(bytes(_ROW.decode(row).value))
        if not numbers:
            rule = "must be a non-empty string or array of integers"
            raise InvalidRequestError("003", f"{place}.value: {rule}")
        found.append(numbers)
    if not found:
        raise InvalidRequestError("003", f"{name}.rows: must be an array of at least one row")
    return _Structure(name, columns, found)


def _numbers(value: bytes) -> bytes:
    """The text of a string, or of an array between its brackets without white space; else empty."""
    if value.startswith(b"["):
        return value[1:-1].translate(None, _WHITE)
    if not value.startswith(b'"'):
        return b""
    if b"\\" not in value:
        return value[1:-1]
    text: str = msgspec.json.decode(value)
    return text.encode()


def _check_elements(matrix: _Structure) -> None:
    for index, elements in enumerate(matrix.rows):
        wrong = _first_wrong(elements)
        if wrong is not None:
            place = f"{matrix.name}.rows[{index}].value[{wrong}]"
            raise InvalidRequestError("005", f"{place}: must be an integer that fits 64 bits")


def _first_wrong(elements: bytes) -> int | None:
    """The index of the first element that is not a 64-bit integer; None if there is none."""
    position, length = 0, len(elements)
    while True:
        run = _FITTING.match(elements, position)
        position = run.end() if run else position
        if position == length and not elements.endswith(b","):
            return None
        stop = elements.find(b",", position)
        if int64(elements[position:] if stop < 0 else elements[position:stop]) is None:
            return elements.count(b",", 0, position)
        if stop < 0:
            return None
        position = stop + 1


def _check_sizes(matrix: _Structure) -> None:
    for index, elements in enumerate(matrix.rows):
        count = elements.count(b",") + 1
        if b"%d" % count != matrix.columns:
            columns = matrix.columns.decode()
            if len(columns) > _SHOWN_DIGITS:
                columns = columns[:_SHOWN_DIGITS] + "..."
            sizes = f"the number of values is {count}, columnCount is {columns}"
            raise InvalidRequestError("004", f"{matrix.name}.rows[{index}]: {sizes}")


def _converted(matrix: _Structure) -> Matrix:
    """The matrix, after all checks have passed."""
    columns = int(matrix.columns)
    found = digits.matrix_of([row.replace(b" ", b"").decode() for row in matrix.rows], columns)
    if found is not None:
        return found[0]
    converted = np.empty((len(matrix.rows), columns), np.int64)
    for index, row in enumerate(matrix.rows):  # some are too large for matrix_of
        converted[index] = [int64(element) or 0 for element in row.split(b",")]
    return converted
