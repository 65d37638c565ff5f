"""The matrix workload's JSON: two matrices in, their product out.

The usual body is read by one typed decode and one vectorised conversion a matrix. Whatever that is
not sure of, an unknown member or an escape among it, is for the slow reader to decide. A body takes
MOST_BYTES_PER_BODY_BYTE times its size at most meanwhile.
"""

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import msgspec
import numpy as np
import orjson

from ..workloads.matrix.request import Matrix, MatrixProduct, MatrixRequest
from ..workloads.workload import InvalidRequestError
from . import delay, digits, slow_reader
from .request_object import INT64_MAX, INT64_MIN, MAX_ID_CHARACTERS, readable_id

MOST_BYTES_PER_BODY_BYTE = 16
"""In addition to the body, until it is read. Measured: 4 for the usual strings of numbers, 12 for
arrays of numbers of three digits, 8 for five million rows of one element with a space."""
DEFAULT_KERNEL = "loops"
KERNELS = ("loops", "native")
KERNEL_RULE = "kernel: must be given at most once, as loops or native"
_MEMBER_NAMES = 7
"""requestId, two matrices, columnCount and rows of each."""
_QUOTE = ord('"')
_SLOWLY = Lock()
"""One at a time is read slowly: the interpreter lock lets no more pass, and memory is bounded."""


class _Row(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    value: str | list[int]


class _Matrix(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    columnCount: int  # noqa: N815 - the contract's spelling
    rows: msgspec.Raw


class _Request(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    requestId: str | int  # noqa: N815
    matrixOne: _Matrix  # noqa: N815
    matrixTwo: _Matrix  # noqa: N815


class _Operand(NamedTuple):
    """A matrix, and what reading it has shown."""

    matrix: Matrix
    at_most: int | None
    """No absolute value is larger; None where that was not seen."""
    strings: int
    """JSON strings in its rows, names too."""


_DECODER = msgspec.json.Decoder(_Request)
_ROWS = msgspec.json.Decoder(list[_Row])
_FIRST, _BETWEEN, _LAST = b'[{"value":"', b'"},{"value":"', b'"}]'
"""Around and between the elements of rows that are written as usual: no row is made an object."""


@dataclass(frozen=True)
class MatrixJson:
    """POST /matrix/{strategy}?kernel=...&delay=...

    A product of more than `most_elements` is refused before it is computed.
    """

    most_elements: int
    max_delay_ms: int = 0

    def decode(self, body: bytes, query: str) -> MatrixRequest:
        """Raises InvalidRequestError 002, 003, 005, 004, 001, 007: the first that applies."""
        kernel = kernel_of(query) if query else DEFAULT_KERNEL
        wrong = KERNEL_RULE if kernel is None else delay.fault(query, self.max_delay_ms)
        operands = _read_usual(body, kernel) if kernel and not wrong else None
        if operands is None:
            with _SLOWLY:
                request_id, left, right = slow_reader.read(body, wrong)
                operands = MatrixRequest(request_id, kernel or DEFAULT_KERNEL, left, right)
        elements = operands.left.shape[0] * operands.right.shape[1]
        if elements > self.most_elements:
            message = f"the product has {elements} elements, the limit is {self.most_elements}"
            raise InvalidRequestError("007", message, operands.request_id)
        return operands

    def encode(self, output: MatrixProduct) -> bytes:
        """{"requestId":"...","rows":[[...],...]} without white space."""
        answer = {"requestId": str(output.request_id), "rows": output.rows}
        return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)

    def identify(self, body: bytes) -> str | int | None:
        """See Codec."""
        return readable_id(body)


@lru_cache(maxsize=64)
def kernel_of(query: str) -> str | None:
    """The one kernel of the query; None where it is not exactly one that exists."""
    kernels = parse_qs(query, keep_blank_values=True).get("kernel", [DEFAULT_KERNEL])
    return kernels[0] if len(kernels) == 1 and kernels[0] in KERNELS else None


def _read_usual(body: bytes, kernel: str) -> MatrixRequest | None:
    """None where it is not beyond doubt that the body is right."""
    if b"\\" in body:  # escapes could hide names and surrogates
        return None
    try:
        request = _DECODER.decode(body)
        left, right = _operand(request.matrixOne), _operand(request.matrixTwo)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if left is None or right is None or not _is_right_id(request.requestId):
        return None
    strings = _MEMBER_NAMES + isinstance(request.requestId, str) + left.strings + right.strings
    quotes = np.count_nonzero(np.frombuffer(body, np.uint8) == _QUOTE)
    if quotes != 2 * strings:  # msgspec keeps a duplicate's last value in silence
        return None
    if left.matrix.shape[1] != right.matrix.shape[0]:
        return None
    return MatrixRequest(
        request.requestId, kernel, left.matrix, right.matrix, left.at_most, right.at_most
    )


def _is_right_id(request_id: str | int) -> bool:
    if isinstance(request_id, str):
        return 1 <= len(request_id) <= MAX_ID_CHARACTERS
    return INT64_MIN <= request_id <= INT64_MAX


def _operand(given: _Matrix) -> _Operand | None:
    """Raises what msgspec does where a row is wrong."""
    columns, text = given.columnCount, bytes(given.rows)
    if columns < 1:
        return None
    if text.startswith(_FIRST) and text.endswith(_LAST):
        rows = text.count(_BETWEEN) + 1
        text = text[len(_FIRST) : -len(_LAST)].replace(_BETWEEN, b";")
        read = digits.matrix_in(text, rows, columns)
        if read is not None:
            return _Operand(*read, 2 * rows)
    return _operand_by_rows([row.value for row in _ROWS.decode(given.rows)], columns)


def _operand_by_rows(values: list[Any], columns: int) -> _Operand | None:
    kinds = set(map(type, values))
    if kinds == {str}:
        text = digits.matrix_of(values, columns)
        return text and _Operand(*text, 2 * len(values))
    if kinds == {list}:
        return _from_arrays(values, columns)
    return None


def _from_arrays(values: list[list[int]], columns: int) -> _Operand | None:
    if {len(value) for value in values} != {columns}:
        return None
    try:
        return _Operand(np.array(values, dtype=np.int64), None, len(values))
    except OverflowError:
        return None
