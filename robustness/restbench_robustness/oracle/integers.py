"""Integers as the contract has them, decided on their text: no length is too long."""

from __future__ import annotations

import re

from .strict_json import Json, Number

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
MOST_DIGITS = 19
"""Of a 64-bit integer, without its sign."""
_WHOLE = re.compile(r"(-?)0*([0-9]+)")
_ELEMENT = re.compile(r" *(-?[0-9]+) *")


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
