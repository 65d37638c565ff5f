"""Parsing rows of decimal integers: many short ones by vectorised numpy, others by strtoll."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..workloads.matrix import Matrix

SURELY_FIT_BELOW = 10**18
"""Larger numbers are left to the slow reader, because strtoll clamps those beyond 64 bits."""
SHORT_DIGITS = 4
"""For longer numbers strtoll is faster: numpy passes over the whole text once for each digit."""
FEW_ELEMENTS = 1000
"""Up to this number of elements strtoll is faster: the calls of numpy take 20 us."""
PIECE_BYTES = 256 * 1024
"""Bytes of text parsed at a time: their arrays, ten times its size, stay in a core's cache."""

_ZERO = ord("0")
Elements = NDArray[np.int64]
Unsigned = NDArray[np.unsignedinteger]


def matrix_of(rows: list[str], columns: int) -> tuple[Matrix, int] | None:
    """The elements, rows x columns, and a bound on their absolute values.

    A row is text with an element `-?[0-9]+` per column and commas between them. None if the rows
    are not surely valid: the slow reader has to decide.
    """
    try:
        fenced = f";{';'.join(rows)};".encode("ascii")
    except UnicodeEncodeError:
        return None
    elements = len(rows) * columns
    if elements >= len(fenced):  # columnCount may be any number: allocate nothing
        return None
    fences = b";" + (b"," * (columns - 1) + b";") * len(rows)
    found = None
    if elements > FEW_ELEMENTS and b"-" not in fenced:
        found = _all_at_once(fenced, fences)
    found = found or _one_by_one(fenced, fences)
    return None if found is None else (found[0].reshape(len(rows), columns), found[1])


def _one_by_one(fenced: bytes, fences: bytes) -> tuple[Elements, int] | None:
    """Parse by C's strtoll. It reads a sign without digits as 0, so that is refused before."""
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
    """Parse unsigned numbers by numpy; None if one has no digit or more than SHORT_DIGITS."""
    values, start, most_digits = np.empty(len(fences) - 1, np.int64), 0, 0
    for piece in _pieces(fenced):
        text = np.frombuffer(piece, np.uint8)
        digits = text - _ZERO  # other characters wrap around to 10 or more
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
    """Parts that begin and end with a fence, `,` or `;`. Consecutive parts share a fence."""
    start, last = 0, len(fenced) - 1
    while start < last:
        stop = min(start + PIECE_BYTES, last)
        while fenced[stop] not in b",;":
            stop += 1
        yield memoryview(fenced)[start : stop + 1]
        start = stop


def _numbers(text: Unsigned, is_digit: NDArray[np.bool_], longest: int) -> Unsigned:
    """At each digit the number that ends there; 0 at the fences, so that no number runs on."""
    digits: Unsigned = text.astype(np.uint8 if longest <= 2 else np.uint16)
    digits *= is_digit
    numbers = digits
    for _ in range(longest - 1):
        before, numbers = numbers, digits.copy()
        numbers[1:] += before[:-1] * 10
        numbers *= is_digit
    return numbers
