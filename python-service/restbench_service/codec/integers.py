"""64-bit integers as text."""

import re

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_INTEGER = re.compile(" *(-?)([0-9]+) *")


def int64(text: str) -> int | None:
    """-?[0-9]+ with spaces around it, if it fits; digits are counted before they are converted."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    digits = match[2].lstrip("0") or "0"
    value = int(match[1] + digits) if len(digits) <= len(str(INT64_MAX)) else INT64_MAX + 1
    return value if INT64_MIN <= value <= INT64_MAX else None
