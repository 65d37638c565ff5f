"""The product in Python's integers, which are exact at any size, and its bytes."""

from __future__ import annotations

from .integers import INT64_MAX, INT64_MIN
from .matrix_rules import Rows
from .verdict import Violation

_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


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
