"""The matrix workload's JSON: two matrices in, their product out.

A usual body is read by one typed decode and one vectorised conversion per matrix. Any other body,
such as one with an unknown member or an escape, is left to the slow reader. Reading a body takes at
most MOST_BYTES_PER_BODY_BYTE times the body's size in memory.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import msgspec
import numpy as np
import orjson

from ..workloads.matrix import Matrix, MatrixProduct, MatrixRequest
from ..workloads.workload import InvalidRequestError
from . import digits, slow_reader
from .codec import SLOW_READ_LOCK, Codec, delay_fault, is_valid_id, reading

MOST_BYTES_PER_BODY_BYTE = 16
"""Memory for reading, in addition to the body. Measured: 4 for the usual strings of numbers, 12 for
arrays of three-digit numbers, 8 for five million rows of one element with a space."""
DEFAULT_KERNEL = "loops"
KERNELS = ("loops", "native")
KERNEL_RULE = "kernel: must be given at most once, as loops or native"
_MEMBER_NAMES = 7
"""Names outside the rows: requestId, the two matrices, columnCount and rows of each."""
_QUOTE = ord('"')


class _Row(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    value: str | list[int]


class _Matrix(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    columnCount: int  # noqa: N815 - the contract's spelling
    rows: list[_Row]


class _Request(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    requestId: str | int  # noqa: N815
    matrixOne: _Matrix  # noqa: N815
    matrixTwo: _Matrix  # noqa: N815


class _Rows(NamedTuple):
    """A matrix's rows, all strings or all arrays; `strings` counts their JSON strings and names."""

    values: list[Any]
    columns: int
    is_text: bool
    strings: int


_DECODER = msgspec.json.Decoder(_Request)


@dataclass(frozen=True)
class MatrixJson(Codec[MatrixRequest, MatrixProduct]):
    """POST /matrix/{strategy}?kernel=...&delay=...

    A product of more than `most_elements` elements is refused before it is computed.
    """

    most_elements: int
    max_delay_ms: int = 0

    def decode(self, body: bytes, query: str) -> MatrixRequest:
        """Raises InvalidRequestError 002, 003, 005, 004, 001, 007: the first that applies."""
        kernel = kernel_of(query) if query else DEFAULT_KERNEL
        wrong = KERNEL_RULE if kernel is None else delay_fault(query, self.max_delay_ms)
        with reading(body):
            operands = _read_usual(body, kernel) if kernel and not wrong else None
        if operands is None:
            with SLOW_READ_LOCK:
                request_id, left, right = slow_reader.read(body, wrong)
                operands = MatrixRequest(request_id, kernel or DEFAULT_KERNEL, left, right)
        elements = operands.left.shape[0] * operands.right.shape[1]
        if elements > self.most_elements:
            message = f"the product has {elements} elements, the limit is {self.most_elements}"
            raise InvalidRequestError("007", message, operands.request_id)
        return operands

    def query_kind(self, query: str) -> str:
        """See Codec."""
        return kernel_of(query) or ""

    def encode(self, output: MatrixProduct) -> bytes:
        """{"requestId":"...","rows":[[...],...]} without white space."""
        answer = {"requestId": str(output.request_id), "rows": output.rows}
        return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)


@lru_cache(maxsize=64)
def kernel_of(query: str) -> str | None:
    """The query's kernel, DEFAULT_KERNEL if there is none; None if it is unknown or given twice."""
    kernels = parse_qs(query, keep_blank_values=True).get("kernel", [DEFAULT_KERNEL])
    return kernels[0] if len(kernels) == 1 and kernels[0] in KERNELS else None


def _read_usual(body: bytes, kernel: str) -> MatrixRequest | None:
    """The request, or None if the body is not surely valid: the slow reader has to decide."""
    if b"\\" in body:  # escapes could hide names and surrogates
        return None
    try:
        request = _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    one, two = _rows_of(request.matrixOne), _rows_of(request.matrixTwo)
    if one is None or two is None or not is_valid_id(request.requestId):
        return None
    strings = _MEMBER_NAMES + isinstance(request.requestId, str) + one.strings + two.strings
    quotes = np.count_nonzero(np.frombuffer(body, np.uint8) == _QUOTE)
    if quotes != 2 * strings:  # a duplicate member: msgspec silently keeps the last
        return None
    left, right = _matrix(one), _matrix(two)
    if left is None or right is None or left[0].shape[1] != right[0].shape[0]:
        return None
    return MatrixRequest(request.requestId, kernel, left[0], right[0], left[1], right[1])


def _rows_of(matrix: _Matrix) -> _Rows | None:
    values = [row.value for row in matrix.rows]
    kinds = set(map(type, values))
    if len(kinds) != 1 or matrix.columnCount < 1:
        return None
    is_text = str in kinds
    return _Rows(values, matrix.columnCount, is_text, len(values) * (1 + is_text))


def _matrix(rows: _Rows) -> tuple[Matrix, int | None] | None:
    """The matrix and a bound on its absolute values, if parsing gives one; None if it fails."""
    read = digits.matrix_of if rows.is_text else _from_arrays
    return read(rows.values, rows.columns)


def _from_arrays(values: list[list[int]], columns: int) -> tuple[Matrix, None] | None:
    if {len(value) for value in values} != {columns}:
        return None
    try:
        return np.array(values, dtype=np.int64), None
    except OverflowError:
        return None
