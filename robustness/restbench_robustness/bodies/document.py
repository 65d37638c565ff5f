"""A JSON document before it is written: members in order, with duplicates, and raw tokens."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias


class Raw(str):
    """Text that is written as it stands, JSON or not."""

    __slots__ = ()


@dataclass
class Members:
    """An object: names and values in order, the same name as often as it is wanted."""

    pairs: list[tuple[str, Value]] = field(default_factory=list)


Value: TypeAlias = "Members | list[Value] | Raw | str | int | bool | None"


def quoted(text: str) -> str:
    """A JSON string, with characters beyond ASCII as they are."""
    return json.dumps(text, ensure_ascii=False)


def write(value: Value, space: str = "", quote: Callable[[str], str] = quoted) -> str:
    """The document as text; `space` stands between all tokens, `quote` writes strings and names."""
    if isinstance(value, Members):
        return _bracketed(
            "{",
            [
                f"{_text(name, quote)}{space}:{space}{write(member, space, quote)}"
                for name, member in value.pairs
            ],
            "}",
            space,
        )
    if isinstance(value, list):
        return _bracketed("[", [write(item, space, quote) for item in value], "]", space)
    return _text(value, quote) if isinstance(value, str) else json.dumps(value)


def encode(text: str) -> bytes:
    """UTF-8; a lone surrogate becomes the three bytes that UTF-8 forbids."""
    return text.encode("utf-8", "surrogatepass")


def _text(text: str, quote: Callable[[str], str]) -> str:
    return str(text) if isinstance(text, Raw) else quote(text)


def _bracketed(opening: str, items: list[str], closing: str, space: str) -> str:
    return opening + space + f"{space},{space}".join(items) + space + closing
