"""The rules of the members, path and query of operations on queues."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from .http import parameters
from .strict_json import INT64_MAX, Json, int64
from .verdict import Violation

TECHNIQUES = (
    "skip-locked", "statements", "function", "blocking", "advisory", "repeatable-read", "pgmq",
    "memory",
)  # fmt: skip
MOST_QUEUES = 100
MOST_KEY_CHARACTERS = 64
NAME = "[a-z][a-z0-9_-]{0,62}"
_NAME = re.compile(NAME)
_KEY = re.compile(f"[!-~]{{1,{MOST_KEY_CHARACTERS}}}")
_DECIMAL = re.compile("[1-9][0-9]{0,18}")
T = TypeVar("T")


def name(place: str, value: Json) -> str:
    """A queue's name. Violation 003."""
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    rule = "must be of a to z, 0 to 9, _ and -, begin with a letter and have at most 63 characters"
    raise Violation("003", f"{place}: {rule}")


def identifier(place: str, value: Json) -> int:
    """Of a client or a receiver, a member. Violation 003."""
    number = int64(value)
    if number is None or number < 1:
        raise Violation("003", f"{place}: must be an integer from 1 to {INT64_MAX}")
    return number


def decimal(place: str, text: str) -> int:
    """The same in a path or a query. Violation 003."""
    if not _DECIMAL.fullmatch(text) or int(text) > INT64_MAX:
        raise Violation("003", f"{place}: must be an integer from 1 to {INT64_MAX}")
    return int(text)


def limit(text: str, most: int) -> int:
    """Of a list: from 1 to `most`. Violation 003."""
    if not _DECIMAL.fullmatch(text) or int(text) > most:
        raise Violation("003", f"limit: must be an integer from 1 to {most}")
    return int(text)


def at_most_once(query: str, name: str, rule: Callable[[str], T]) -> T | None:
    """One that is given twice breaks the rule, as an empty one does."""
    values = parameters(query, name)
    if not values:
        return None
    return rule(values[0] if len(values) == 1 else "")


def technique(value: Json) -> str:
    """One that there is. Violation 003."""
    if isinstance(value, str) and value in TECHNIQUES:
        return value
    raise Violation("003", f"technique: must be one of {', '.join(TECHNIQUES)}")


def queues(value: Json) -> list[str]:
    """Distinct names. Violation 003."""
    if isinstance(value, list) and 1 <= len(value) <= MOST_QUEUES:
        names = [it for it in value if isinstance(it, str) and _NAME.fullmatch(it)]
        if len(set(names)) == len(value):
            return names
    raise Violation("003", "queues: must be an array of 1 to 100 distinct queue names")


def body(value: Json) -> str:
    """Of a message, of any length. Violation 003."""
    if isinstance(value, str) and value and "\0" not in value:
        return value
    raise Violation("003", "body: must be a string of at least one character without U+0000")


def key(value: Json) -> str:
    """Of the client's choice. Violation 003."""
    if isinstance(value, str) and _KEY.fullmatch(value):
        return value
    raise Violation("003", "key: must be 1 to 64 characters of U+0021 to U+007E")
