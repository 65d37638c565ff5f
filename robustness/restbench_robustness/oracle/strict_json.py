"""JSON as the contract has it: RFC 8259 in UTF-8 without a byte order mark, no duplicate names, no
lone surrogates, at most 32 levels. A number stays the text it was sent as."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn, TypeAlias

from .verdict import Violation

MAX_DEPTH = 32


class Number(NamedTuple):
    """A JSON number."""

    text: str
    """As it was written."""


Json: TypeAlias = "dict[str, Json] | list[Json] | str | Number | bool | None"

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_WORD = re.compile(r"[a-z]+")
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_LITERALS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


def read(body: bytes) -> Json:
    """The value of a well-formed body; Violation 002 with the first message that applies."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Violation("002", "the body is not valid UTF-8") from None
    if _depth(text) > MAX_DEPTH:
        raise Violation("002", f"the body is nested deeper than {MAX_DEPTH} levels")
    reader = _Reader(text)
    value = reader.document()
    if reader.has_duplicate:
        raise Violation("002", "the body has a member twice in one object")
    if reader.has_lone_surrogate:
        raise Violation("002", "the body has a lone surrogate in a string")
    return value


def _depth(text: str) -> int:
    """The most brackets open at a place: opened less closed, those in strings not counted."""
    depth = deepest = 0
    for found in _BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        deepest = max(deepest, depth)
    return deepest


class _Reader:
    """A cursor over the text; each method leaves it behind what it has read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.has_duplicate = False
        self.has_lone_surrogate = False

    def document(self) -> Json:
        value = self._value()
        self._skip_space()
        if self._at < len(self._text):
            self._fail()
        return value

    def _fail(self) -> NoReturn:
        raise Violation("002", "the body is not well-formed JSON")

    def _skip_space(self) -> None:
        if found := _SPACE.match(self._text, self._at):
            self._at = found.end()

    def _peek(self) -> str:
        """The next character that is no white space, empty at the end."""
        self._skip_space()
        return self._text[self._at : self._at + 1]

    def _expect(self, character: str) -> None:
        if self._peek() != character:
            self._fail()
        self._at += 1

    def _value(self) -> Json:
        match self._peek():
            case "{":
                return self._object()
            case "[":
                return self._array()
            case '"':
                return self._string()
            case "t" | "f" | "n":
                return self._literal()
            case _:
                return self._number()

    def _object(self) -> dict[str, Json]:
        self._at += 1
        members: dict[str, Json] = {}
        if self._peek() == "}":
            self._at += 1
            return members
        while True:
            self._member(members)
            if self._peek() != ",":
                break
            self._at += 1
        self._expect("}")
        return members

    def _member(self, members: dict[str, Json]) -> None:
        if self._peek() != '"':
            self._fail()
        name = self._string()
        self._expect(":")
        value = self._value()
        self.has_duplicate |= name in members
        members[name] = value

    def _array(self) -> list[Json]:
        self._at += 1
        items: list[Json] = []
        if self._peek() == "]":
            self._at += 1
            return items
        while True:
            items.append(self._value())
            if self._peek() != ",":
                break
            self._at += 1
        self._expect("]")
        return items

    def _literal(self) -> bool | None:
        found = _WORD.match(self._text, self._at)
        if found is None or found[0] not in _LITERALS:
            self._fail()
        self._at = found.end()
        return _LITERALS[found[0]]

    def _number(self) -> Number:
        found = _NUMBER.match(self._text, self._at)
        if found is None:
            self._fail()
        self._at = found.end()
        return Number(found[0])

    def _string(self) -> str:
        self._at += 1
        pieces = []
        while True:
            pieces.append(self._plain())
            ends = self._text[self._at : self._at + 1]
            self._at += 1
            if ends == '"':
                return "".join(pieces)
            if ends != "\\":
                self._fail()
            pieces.append(self._escape())

    def _plain(self) -> str:
        found = _PLAIN.match(self._text, self._at)
        start, self._at = self._at, found.end() if found else self._at
        return self._text[start : self._at]

    def _escape(self) -> str:
        letter = self._text[self._at : self._at + 1]
        self._at += 1
        if letter != "u":
            return _ESCAPES.get(letter) or self._fail()
        unit = self._code_unit()
        if 0xD800 <= unit <= 0xDBFF and self._text.startswith("\\u", self._at):
            self._at += 2
            return self._pair(unit, self._code_unit())
        return self._character(unit)

    def _pair(self, high: int, low: int) -> str:
        """One character, or two escapes of which the second may begin a pair of its own."""
        if 0xDC00 <= low <= 0xDFFF:
            return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        self.has_lone_surrogate = True
        self._at -= len("\\uD800")
        return chr(high)

    def _character(self, unit: int) -> str:
        self.has_lone_surrogate |= 0xD800 <= unit <= 0xDFFF
        return chr(unit)

    def _code_unit(self) -> int:
        found = _HEX.match(self._text, self._at)
        if found is None:
            self._fail()
        self._at = found.end()
        return int(found[0], 16)
