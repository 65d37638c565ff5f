"""Rows of decimal integers: many short ones are read all at once, others one after the other."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..workloads.matrix import Matrix

SURELY_FIT_BELOW = 10**18
"""Larger numbers are for the slow reader to judge: strtoll cuts off what does not fit 64 bits."""
SHORT_DIGITS = 4
"""Longer numbers take strtoll less time than a pass over all of the text for each digit."""
FEW_ELEMENTS = 1000
"""Up to so many are read sooner one after the other: the calls of the other way cost 20 us."""
PIECE_BYTES = 256 * 1024
"""Of text at a time: what is made of it, some ten times as much, stays in a core's cache."""

_ZERO = ord("0")
Elements = NDArray[np.int64]
Unsigned = NDArray[np.unsignedinteger]


def matrix_of(rows: list[str], columns: int) -> tuple[Matrix, int] | None:
    """The elements of `-?[0-9]+` between commas, rows x columns; None where it is not sure.

    And an absolute value that none of them exceeds.
    """
    try:
        fenced = f";{';'.join(rows)};".encode("ascii")
    except UnicodeEncodeError:
        return None
    elements = len(rows) * columns
    if elements >= len(fenced):  # the client may announce any number of columns
        return None
    fences = b";" + (b"," * (columns - 1) + b";") * len(rows)
    found = None
    if elements > FEW_ELEMENTS and b"-" not in fenced:
        found = _all_at_once(fenced, fences)
    found = found or _one_by_one(fenced, fences)
    return None if found is None else (found[0].reshape(len(rows), columns), found[1])


def _one_by_one(fenced: bytes, fences: bytes) -> tuple[Elements, int] | None:
    """By C's strtoll, which takes a sign alone for 0."""
    has_signs = b"-" in fenced
    if fenced.translate(None, b"0123456789-") != fences:
        return None
    if has_signs and (b"-," in fenced or b"-;" in fenced):
        return None
    try:
        values = np.fromstring(fenced[1:-1].replace(b";", b","), np.int64, sep=",")
    except ValueError:
        return None
    if values.size != len(fences) - 1:
        return None
    # max() and min() take three times as long on few elements
    largest = int(values[values.argmax()])
    if has_signs:
        largest = max(largest, -int(values[values.argmin()]))
    return (values, largest) if largest < SURELY_FIT_BELOW else None


def _all_at_once(fenced: bytes, fences: bytes) -> tuple[Elements, int] | None:
    """Of numbers without a sign; None where one is longer than SHORT_DIGITS, or has no digit."""
    values, start, most_digits = np.empty(len(fences) - 1, np.int64), 0, 0
    for piece in _pieces(fenced):
        text = np.frombuffer(piece, np.uint8)
        digits = text - _ZERO  # what is no digit wraps to 10 and more
        is_digit = digits < 10
        ends = np.flatnonzero(~is_digit)
        lengths = np.diff(ends) - 1
        longest, stop = int(lengths.max()), start + lengths.size
        if lengths.min() < 1 or longest > SHORT_DIGITS:
            return None
        if text.take(ends).tobytes() != fences[start : stop + 1]:
            return None
        values[start:stop] = _numbers(digits, is_digit, longest).take(ends[1:] - 1)
        start, most_digits = stop, max(most_digits, longest)
    return (values, 10**most_digits - 1) if start == values.size else None


def _pieces(fenced: bytes) -> Iterator[memoryview]:
    """Parts from one fence to another, which is the first of the next part."""
    start, last = 0, len(fenced) - 1
    while start < last:
        stop = min(start + PIECE_BYTES, last)
        while fenced[stop] not in b",;":
            stop += 1
        yield memoryview(fenced)[start : stop + 1]
        start = stop


def _numbers(text: Unsigned, is_digit: NDArray[np.bool_], longest: int) -> Unsigned:
    """For each digit the number that ends with it; 0 between them, so that each begins anew."""
    digits: Unsigned = text.astype(np.uint8 if longest <= 2 else np.uint16)
    digits *= is_digit
    numbers = digits
    for _ in range(longest - 1):
        before, numbers = numbers, digits.copy()
        numbers[1:] += before[:-1] * 10
        numbers *= is_digit
    return numbers
