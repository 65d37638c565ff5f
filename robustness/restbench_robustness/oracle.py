"""What the contract says about a request, written from the contract and from nothing else.

It shares no line with the services. JSON is read by Python's own parser, made strict here, where
they have msgspec and orjson, and Jackson. Numbers are Python's integers, exact at any size. It is
slow and plain, to be checked by reading it next to the contract.
The order in which the contract decides: 009, 007, 002, 003, 005, 004, 001, 007, 011, 006.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn, TypeAlias
from urllib.parse import unquote_to_bytes

STATUSES = {
    "ok": 200, "001": 422, "002": 400, "003": 422, "004": 422, "005": 422, "006": 422,
    "007": 413, "011": 413,
}  # fmt: skip
"""Status of each outcome that has one status and depends on the request's content."""


@dataclass(frozen=True)
class Verdict:
    """The right answer: exact bytes for a product, what the contract fixes for an error."""

    code: str
    """`ok` or the error's code."""
    status: int
    request_id: str | int | None = None
    """What an error echoes; of a product it is part of `product`."""
    product: bytes | None = None
    """The whole body of a 200."""
    messages: frozenset[str] = field(default=frozenset())
    """The message is one of them: 006 names any of the elements that do not fit."""
    allow: str | None = None
    """The method that a 405 names in `Allow`."""


class Violation(Exception):
    """A rule of the contract that the request breaks."""

    def __init__(self, code: str, *messages: str) -> None:
        """`messages` are those of which the answer has one."""
        super().__init__(code, *messages)
        self.code = code
        self.messages = frozenset(messages)


# --- JSON: RFC 8259 in UTF-8, no byte order mark, no duplicates or lone surrogates, 32 levels -----

MAX_DEPTH = 32
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class Number(NamedTuple):
    """A JSON number."""

    text: str
    """As it was written."""


Json: TypeAlias = "dict[str, Json] | list[Json] | str | Number | bool | None"


def read(body: bytes) -> Json:
    """The value of a well-formed body; Violation 002 with the first message that applies."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Violation("002", "the body is not valid UTF-8") from None
    if _depth(text) > MAX_DEPTH:
        raise Violation("002", f"the body is nested deeper than {MAX_DEPTH} levels")
    twice, lone = False, False

    def members(pairs: list[tuple[str, Json]]) -> Json:
        nonlocal twice, lone
        twice |= len(dict(pairs)) < len(pairs)
        lone |= any(_has_surrogate(name) or _has_surrogate(value) for name, value in pairs)
        return dict(pairs)

    try:
        value: Json = json.loads(
            text,
            object_pairs_hook=members,
            parse_int=Number,
            parse_float=Number,
            parse_constant=_no_number,
        )
    except ValueError:
        raise Violation("002", "the body is not well-formed JSON") from None
    if twice:
        raise Violation("002", "the body has a member twice in one object")
    if lone or _has_surrogate(value):
        raise Violation("002", "the body has a lone surrogate in a string")
    return value


def _depth(text: str) -> int:
    """The most brackets open at a place: opened less closed, those in strings not counted."""
    depth = deepest = 0
    for found in _BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        deepest = max(deepest, depth)
    return deepest


def _has_surrogate(value: Json) -> bool:
    """In a string or a list; objects were looked at when they were read."""
    if isinstance(value, list):
        return any(map(_has_surrogate, value))
    return isinstance(value, str) and _SURROGATE.search(value) is not None


def _no_number(constant: str) -> NoReturn:
    raise ValueError(constant)


# --- the members of a matrix request: each rule over the whole request before the next ------------

MOST_ID_CHARACTERS = 128
MOST_ECHO_DIGITS = 24

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
MOST_DIGITS = 19
"""Of a 64-bit integer, without its sign."""
_WHOLE = re.compile(r"(-?)0*([0-9]+)")
_MILLIS = re.compile(r"[0-9]{1,6}")
_ELEMENT = re.compile(r" *(-?[0-9]+) *")
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

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
            told = f"the number of values is {len(row)}, columnCount is {shown}"
            raise Violation("004", f"{matrix.name}.rows[{index}]: {told}")


def int64(value: Json) -> int | None:
    """A JSON number without fraction and exponent that fits 64 bits, otherwise None."""
    digits = integer_text(value)
    return None if digits is None else _fitting(digits)


def integer_text(value: Json) -> str | None:
    """A JSON number without fraction and exponent, of any size; None for anything else."""
    if not isinstance(value, Number) or {".", "e", "E"} & set(value.text):
        return None
    return value.text


def element(piece: str) -> int | None:
    """What stands between two commas of a string: digits and spaces around them, nothing else."""
    found = _ELEMENT.fullmatch(piece)
    return _fitting(found[1]) if found else None


def positive(value: Json) -> str | None:
    """The digits of a JSON integer of at least 1, None for anything else."""
    digits = integer_text(value)
    return None if digits is None or digits.startswith("-") or digits == "0" else digits


def _fitting(text: str) -> int | None:
    found = _WHOLE.fullmatch(text)
    if found is None or len(found[2]) > MOST_DIGITS:
        return None
    value = int(found[1] + found[2])
    return value if INT64_MIN <= value <= INT64_MAX else None


def multiply(one: Rows, two: Rows) -> Rows:
    """rows x inner times inner x columns; Violation 006 names every element that does not fit."""
    columns = list(zip(*two, strict=True))
    product = [[sum(map(int.__mul__, row, column)) for column in columns] for row in one]
    too_large = [
        f"rows[{i}][{j}]: the product's element does not fit 64 bits"
        for i, row in enumerate(product)
        for j, value in enumerate(row)
        if not INT64_MIN <= value <= INT64_MAX
    ]
    if too_large:
        raise Violation("006", *too_large)
    return product


def answer(request_id: str | int, product: Rows) -> bytes:
    """The body of a 200."""
    rows = ",".join("[" + ",".join(map(str, row)) + "]" for row in product)
    return f'{{"requestId":"{_escaped(str(request_id))}","rows":[{rows}]}}'.encode()


def _escaped(text: str) -> str:
    return "".join(_SHORT.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text)


# --- the request as HTTP has it -------------------------------------------------------------------

GET_PATHS = ("/strategies", "/health", "/metrics", "/openapi.json", "/docs")
KERNELS = ("loops", "native")
RULE_OF_ID = "requestId: must be a string of 1 to 128 characters or a 64-bit integer"


@dataclass(frozen=True)
class Request:
    """What arrived, as HTTP has it."""

    method: str
    target: str
    content_type: str | None
    body: bytes
    declared_bytes: int | None
    """Content-Length; None where the body came in chunks."""
    is_whole: bool = True
    """False: the connection ended before the announced length or the last chunk."""


@dataclass(frozen=True)
class Limits:
    """What a service was started with."""

    body_bytes: int = 64 * 1024 * 1024
    loop_operations: int = 2 * 10**8
    native_operations: int = 10**10
    delay_millis: int = 10_000

    @property
    def product_elements(self) -> int:
        """Two bytes are the least an element takes in the answer."""
        return max(1, self.body_bytes // 2)


class Oracle:
    """The contract for a service with these strategies and limits."""

    def __init__(self, strategies: Iterable[str], limits: Limits) -> None:
        """`strategies` are those that take the matrix."""
        self._compute_paths = {f"/matrix/{name}" for name in strategies}
        self._limits = limits

    def judge(self, request: Request) -> Verdict | None:
        """The right answer; None for a GET that is right, whose answer is each service's own."""
        path, _, query = request.target.partition("?")
        if path in GET_PATHS:
            return None if request.method == "GET" else _wrong_method("GET")
        request_id = None
        try:
            refusal = self._refusal(request, path)
            if refusal is not None:
                return refusal
            members = _object(request)
            request_id = right_id(members)
            product = self._product(members, request_id, query)
        except Violation as violation:
            code = violation.code
            return Verdict(code, STATUSES[code], request_id, messages=violation.messages)
        return Verdict("ok", STATUSES["ok"], request_id, product=product)

    def _refusal(self, request: Request, path: str) -> Verdict | None:
        if path not in self._compute_paths:
            text = "no such path or strategy; GET /strategies lists the strategies"
            return Verdict("009", 404, messages=frozenset({text}))
        if request.method != "POST":
            return _wrong_method("POST")
        if _media_type(request.content_type) != "application/json":
            text = "Content-Type must be application/json"
            return Verdict("009", 415, messages=frozenset({text}))
        limit = self._limits.body_bytes
        if max(len(request.body), request.declared_bytes or 0) > limit:
            raise Violation("007", f"the body is larger than the limit of {limit} bytes")
        return None

    def _product(self, request: dict[str, Json], request_id: str | int | None, query: str) -> bytes:
        """The answer's bytes; Violation 003, 005, 004, 001, 007, 011 or 006."""
        kernel_values = parameters(query, "kernel")
        if len(kernel_values) > 1 or not set(kernel_values) <= set(KERNELS):
            raise Violation("003", "kernel: must be given at most once, as loops or native")
        self._require_delay(parameters(query, "delay"))
        if request_id is None:
            raise Violation("003", RULE_OF_ID)
        one, two = operands(request)
        self._require_size(len(one), len(two), len(two[0]), "native" in kernel_values)
        return answer(request_id, multiply(one, two))

    def _require_delay(self, values: list[str]) -> None:
        limit = self._limits.delay_millis
        right = len(values) == 1 and _MILLIS.fullmatch(values[0]) and int(values[0]) <= limit
        if values and not right:
            raise Violation(
                "003", f"delay: must be a whole number of milliseconds from 0 to {limit}"
            )

    def _require_size(self, rows: int, inner: int, columns: int, native: bool) -> None:
        limit = self._limits.product_elements
        if rows * columns > limit:
            raise Violation(
                "007", f"the product has {rows * columns} elements, the limit is {limit}"
            )
        limit = self._limits.native_operations if native else self._limits.loop_operations
        if rows * inner * columns > limit:
            raise Violation("011", f"operations: {rows * inner * columns}, the limit is {limit}")


def _wrong_method(allowed: str) -> Verdict:
    text = f"this path has the method {allowed} only"
    return Verdict("009", 405, messages=frozenset({text}), allow=allowed)


def _object(request: Request) -> dict[str, Json]:
    if not request.is_whole:
        raise Violation("002", "the body was cut off")
    members = read(request.body)
    if not isinstance(members, dict):
        raise Violation("002", "the body is not a JSON object")
    return members


def parameters(query: str, wanted: str) -> list[str]:
    """All values of one parameter in a query string, in order."""
    pairs = [pair.partition("=") for pair in query.split("&")]
    return [_decoded(value) for name, _, value in pairs if _decoded(name) == wanted]


def _decoded(escaped: str) -> str:
    return unquote_to_bytes(escaped.replace("+", " ")).decode("utf-8", errors="replace")


def _media_type(content_type: str | None) -> str | None:
    return content_type and content_type.partition(";")[0].strip(" \t").lower()
