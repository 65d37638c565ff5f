"""Strict JSON: RFC 8259 in UTF-8, without byte order mark, duplicate names or lone surrogates, at
most 32 levels; and the contract's definitions of an integer, an id and a string."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import NamedTuple, NoReturn, TypeAlias

from .verdict import Request, Violation

MAX_DEPTH = 32
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
MOST_DIGITS = 19
"""Maximum number of digits of a 64-bit integer, without the sign."""
MOST_ID_CHARACTERS = 128
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_WHOLE = re.compile(r"(-?)0*([0-9]+)")
#: Writes a string as JSON.stringify does.
quoted = partial(json.dumps, ensure_ascii=False)


class Number(NamedTuple):
    """A JSON number."""

    text: str
    """As it was written."""


Json: TypeAlias = "dict[str, Json] | list[Json] | str | Number | bool | None"


def object_of(request: Request) -> dict[str, Json]:
    """The members of the body. Raises Violation 002."""
    if not request.is_whole:
        raise Violation("002", "the body was cut off")
    members = _read(request.body)
    if not isinstance(members, dict):
        raise Violation("002", "the body is not a JSON object")
    return members


def _read(body: bytes) -> Json:
    """The value of a body. Raises Violation 002 with the first message that applies."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Violation("002", "the body is not valid UTF-8") from None
    if _depth(text) > MAX_DEPTH:
        raise Violation("002", f"the body is nested deeper than {MAX_DEPTH} levels")
    is_twice: list[bool] = []

    def members(pairs: list[tuple[str, Json]]) -> Json:
        is_twice.append(len(dict(pairs)) < len(pairs))
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
    if any(is_twice):
        raise Violation("002", "the body has a member twice in one object")
    try:
        quoted(value).encode()
    except UnicodeEncodeError:
        raise Violation("002", "the body has a lone surrogate in a string") from None
    return value


def _depth(text: str) -> int:
    """The nesting depth: the maximum of opened less closed brackets, without those in strings."""
    depth = deepest = 0
    for found in _BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        deepest = max(deepest, depth)
    return deepest


def _no_number(constant: str) -> NoReturn:
    raise ValueError(constant)


def int64(value: Json) -> int | None:
    """A JSON number without fraction and exponent that fits 64 bits, otherwise None."""
    if isinstance(value, Number) and not {".", "e", "E"} & set(value.text):
        return fitting(value.text)
    return None


def positive(value: Json) -> str | None:
    """The digits of a JSON integer of at least 1, of any size; None for anything else."""
    if isinstance(value, Number) and re.fullmatch("[1-9][0-9]*", value.text):
        return value.text
    return None


def fitting(text: str) -> int | None:
    """The integer in a text of digits with an optional minus; None beyond 64 bits."""
    found = _WHOLE.fullmatch(text)
    if found is None or len(found[2]) > MOST_DIGITS:
        return None
    value = int(found[1] + found[2])
    return value if INT64_MIN <= value <= INT64_MAX else None


def right_id(request: dict[str, Json]) -> str | int | None:
    """The member requestId where it is valid, else None."""
    value = request.get("requestId")
    if isinstance(value, str):
        return value if 1 <= len(value) <= MOST_ID_CHARACTERS else None
    return int64(value)
