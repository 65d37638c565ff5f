"""JSON as the contract has it: RFC 8259 in UTF-8 without a byte order mark, no duplicate names, no
lone surrogates, at most 32 levels. A number stays the text it was sent as.

The parser is Python's own, which neither service uses; what it is lenient about is looked at here.
"""

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
