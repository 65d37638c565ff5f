"""Expressions for what a service chooses itself: ids, times, and what others have sent."""

from __future__ import annotations

TECHNIQUES = (
    "skip-locked", "statements", "function", "blocking", "advisory", "repeatable-read", "pgmq",
    "memory",
)  # fmt: skip
NAME = "[a-z][a-z0-9_-]{0,62}"
ID = "[1-9][0-9]{0,18}"
NOBODY = "null"
BODY = r'"(?:[^"\\\x00-\x1f]|\\["\\bfnrt]|\\u00[01][0-9a-f])+"'
"""A text of at least one character, escaped as JSON.stringify does."""


def listed(member: str, row: str, most: int) -> str:
    """An object with one member, an array of at most so many rows."""
    return rf'{{"{member}":\[(?:{row}(?:,{row}){{0,{most - 1}}})?\]}}'
