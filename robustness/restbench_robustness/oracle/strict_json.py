"""JSON: RFC 8259 in UTF-8, no byte order mark, no duplicates or lone surrogates, 32 levels; and
what the contract calls an integer, an id, a string."""

from __future__ import annotations

import json
import re
from typing import NamedTuple, NoReturn, TypeAlias

from .verdict import Violation

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


INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
MOST_DIGITS = 19
"""Of a 64-bit integer, without its sign."""
MOST_ID_CHARACTERS = 128
_WHOLE = re.compile(r"(-?)0*([0-9]+)")
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def int64(value: Json) -> int | None:
    """A JSON number without fraction and exponent that fits 64 bits, otherwise None."""
    digits = integer_text(value)
    return None if digits is None else fitting(digits)


def integer_text(value: Json) -> str | None:
    """A JSON number without fraction and exponent, of any size; None for anything else."""
    if not isinstance(value, Number) or {".", "e", "E"} & set(value.text):
        return None
    return value.text


def positive(value: Json) -> str | None:
    """The digits of a JSON integer of at least 1, None for anything else."""
    digits = integer_text(value)
    return None if digits is None or digits.startswith("-") or digits == "0" else digits


def fitting(text: str) -> int | None:
    """The number that digits say, with a minus or without, None beyond 64 bits."""
    found = _WHOLE.fullmatch(text)
    if found is None or len(found[2]) > MOST_DIGITS:
        return None
    value = int(found[1] + found[2])
    return value if INT64_MIN <= value <= INT64_MAX else None


def right_id(request: dict[str, Json]) -> str | int | None:
    """The request's id if it is one."""
    value = request.get("requestId")
    if isinstance(value, str):
        return value if 1 <= len(value) <= MOST_ID_CHARACTERS else None
    return int64(value)


def quoted(text: str) -> str:
    """As JSON.stringify writes a string."""
    return (
        '"' + "".join(_SHORT.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text) + '"'
    )
