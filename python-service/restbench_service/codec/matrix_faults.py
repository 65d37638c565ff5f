"""What is wrong with a matrix request that is well-formed JSON, in the contract's order.

Each step looks at the whole request before the next begins, so the code that is named does not
depend on where in the body the faults stand. No more than a row is taken apart at a time.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..workloads.matrix.operands import Matrix
from ..workloads.workload import InvalidRequestError
from . import digits
from .request_object import MISSING, id_of, int64, required_id
from .strict_json import MAX_DEPTH, STRING

INNER_SIZES_DIFFER = "Invalid number of columns and rows for multiplication"
_SHOWN_DIGITS = 24
_WHITE = b" \t\r\n"


class _Members(msgspec.Struct, gc=False):
    requestId: msgspec.Raw = MISSING  # noqa: N815 - the contract's spelling
    matrixOne: msgspec.Raw = MISSING  # noqa: N815
    matrixTwo: msgspec.Raw = MISSING  # noqa: N815


class _Matrix(msgspec.Struct, gc=False):
    columnCount: msgspec.Raw = MISSING  # noqa: N815
    rows: msgspec.Raw = MISSING


class _Row(msgspec.Struct, gc=False):
    value: msgspec.Raw = MISSING


class _Structure(NamedTuple):
    """A matrix that has all members: `columns` as it was written, `rows` the JSON of the array."""

    name: str
    columns: bytes
    rows: bytes


def _object_pattern() -> bytes:
    """One JSON object in text that is known to be JSON, up to the end of what may stand in it."""
    inner = rb'(?:[^\[\]"{}]++|%b)*+' % STRING
    for _ in range(MAX_DEPTH):
        inner = rb'(?:[^\[\]"{}]++|%b|[\[{]%b[\]}])*+' % (STRING, inner)
    return rb"\{%b\}" % inner


MEMBERS = msgspec.json.Decoder(_Members)
_MATRIX, _ROW = msgspec.json.Decoder(_Matrix), msgspec.json.Decoder(_Row)
_NEXT_ELEMENT = re.compile(rb"[\s,]*+(?:(%b)|([^\s\]]))" % _object_pattern())
_COLUMNS = re.compile(rb"[1-9][0-9]*+")
_FITTING_IN_ARRAY = re.compile(rb"(?:[ \t\r\n]*+-?[0-9]{1,18}+[ \t\r\n]*+,)++")
_FITTING_IN_STRING = re.compile(rb"(?: *+-?[0-9]{1,18}+ *+,)++")
"""Elements that surely fit 64 bits, each with its comma."""


def read(members: _Members, has_kernel: bool) -> tuple[str | int, Matrix, Matrix]:
    """The id and both matrices, or InvalidRequestError with the first code that applies."""
    if not has_kernel:
        message = "kernel: must be given at most once, as loops or native"
        raise InvalidRequestError("003", message, id_of(members.requestId))
    request_id = required_id(members.requestId)
    try:
        one = _structure("matrixOne", members.matrixOne)
        two = _structure("matrixTwo", members.matrixTwo)
        for check in (_check_elements, _check_sizes):
            for matrix in (one, two):
                check(matrix)
        if int(one.columns) != sum(1 for _ in _values(two)):
            raise InvalidRequestError("001", INNER_SIZES_DIFFER)
    except InvalidRequestError as error:
        raise InvalidRequestError(error.code, error.message, request_id) from None
    return request_id, _converted(one), _converted(two)


def _structure(name: str, value: msgspec.Raw) -> _Structure:
    if bytes(memoryview(value)[:1]) != b"{":
        raise InvalidRequestError("003", f"{name}: must be an object with columnCount and rows")
    matrix = _MATRIX.decode(value)
    columns, rows = bytes(matrix.columnCount), bytes(matrix.rows)
    if not _COLUMNS.fullmatch(columns):
        raise InvalidRequestError("003", f"{name}.columnCount: must be an integer of at least 1")
    if _is_empty(rows, b"["):
        raise InvalidRequestError("003", f"{name}.rows: must be an array of at least one row")
    structure = _Structure(name, columns, rows)
    for index, row in enumerate(_values(structure)):
        if row is None:
            raise InvalidRequestError("003", f"{name}.rows[{index}]: must be an object with value")
        if _is_empty(row, b"[") and (row[:1] != b'"' or row == b'""'):
            rule = "must be a non-empty string or array of integers"
            raise InvalidRequestError("003", f"{name}.rows[{index}].value: {rule}")
    return structure


def _is_empty(value: bytes, opening: bytes) -> bool:
    """Also true of what does not open so."""
    return not (value.startswith(opening) and value[1:-1].strip(_WHITE))


def _values(matrix: _Structure) -> Iterator[Any]:
    """Each row's value as JSON, empty where it is missing; None for what is no object, at the end.

    Once the structure is found right all are bytes.
    """
    position = 1
    while element := _NEXT_ELEMENT.match(matrix.rows, position):
        position = element.end()
        row = element[1]
        yield bytes(_ROW.decode(row).value) if row else None
        if not row:  # where it ends is not known, and nobody asks for more
            return


def _check_elements(matrix: _Structure) -> None:
    for index, value in enumerate(_values(matrix)):
        wrong = _first_wrong(_elements(value), is_array=value.startswith(b"["))
        if wrong is not None:
            place = f"{matrix.name}.rows[{index}].value[{wrong}]"
            raise InvalidRequestError("005", f"{place}: must be an integer that fits 64 bits")


def _elements(value: bytes) -> bytes:
    """What stands between the brackets, or the quotes: elements with commas between them."""
    if value.startswith(b"[") or b"\\" not in value:
        return value[1:-1]
    text: str = msgspec.json.decode(value)
    return text.encode()


def _first_wrong(elements: bytes, is_array: bool) -> int | None:
    """The number of the first element that is no 64-bit integer; None if there is none."""
    fitting = _FITTING_IN_ARRAY if is_array else _FITTING_IN_STRING
    position = index = 0
    while True:
        if run := fitting.match(elements, position):
            index += elements.count(b",", position, run.end())
            position = run.end()
        stop = elements.find(b",", position)
        element = elements[position:] if stop < 0 else elements[position:stop]
        if int64(element.strip(_WHITE) if is_array else element) is None:
            return index
        if stop < 0:
            return None
        position, index = stop + 1, index + 1


def _check_sizes(matrix: _Structure) -> None:
    for index, value in enumerate(_values(matrix)):
        count = _elements(value).count(b",") + 1
        if b"%d" % count != matrix.columns:
            columns = matrix.columns.decode()
            if len(columns) > _SHOWN_DIGITS:
                columns = columns[:_SHOWN_DIGITS] + "..."
            sizes = f"the number of values is {count}, columnCount is {columns}"
            raise InvalidRequestError("004", f"{matrix.name}.rows[{index}]: {sizes}")


def _converted(matrix: _Structure) -> Matrix:
    rows = [_elements(value).translate(None, _WHITE).decode() for value in _values(matrix)]
    columns = int(matrix.columns)
    found = digits.matrix_of(rows, columns)
    if found is not None:
        return found[0]
    converted = np.empty((len(rows), columns), np.int64)
    for index, row in enumerate(rows):  # some have more digits than are needed
        converted[index] = [int64(element.encode()) for element in row.split(",")]
    return converted
