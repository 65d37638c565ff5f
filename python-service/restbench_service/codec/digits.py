"""Rows of decimal integers: few are read one after the other, many a digit's place at a time."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..workloads.matrix.operands import Matrix

SURELY_FIT_DIGITS = 18
"""Any number of so many digits fits 64 bits; longer ones are for the validator to judge."""
SURELY_FIT_BELOW = 10**SURELY_FIT_DIGITS
FEW_ELEMENTS = 3000
"""Up to so many are read sooner one after the other, in C: measured for one to six digits, the two
ways take the same time between 2 000 and 5 000 elements. The other's twenty calls cost 20 us."""
PIECE_BYTES = 256 * 1024
"""Of text at a time: what is made of it, twenty times as much, is small beside a large matrix."""

_ZERO, _MINUS = b"0-"
Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


def matrix_of(rows: list[str], columns: int) -> tuple[Matrix, int] | None:
    """The elements of `-?[0-9]+` between commas, rows x columns; None where it is not sure.

    And an absolute value that none of them exceeds.
    """
    try:
        fenced = f";{';'.join(rows)};".encode("ascii")
    except UnicodeEncodeError:
        return None
    if not _has_shape(fenced, len(rows), columns):
        return None
    read = _few if len(rows) * columns <= FEW_ELEMENTS else _many
    found = read(fenced, len(rows) * columns)
    return None if found is None else (found[0].reshape(len(rows), columns), found[1])


def _has_shape(fenced: bytes, rows: int, columns: int) -> bool:
    """Whether all but digits and signs are the right fences, in the right order."""
    fences = fenced.translate(None, b"0123456789-")
    if len(fences) != rows * columns + 1:  # as many as the client likes: not to be built below
        return False
    return fences == b";" + (b"," * (columns - 1) + b";") * rows


def _few(fenced: bytes, elements: int) -> tuple[Offsets, int] | None:
    """By C's strtoll, which takes a sign alone for 0 and cuts off what does not fit 64 bits."""
    has_signs = b"-" in fenced
    if has_signs and (b"-," in fenced or b"-;" in fenced):
        return None
    try:
        values = np.fromstring(fenced[1:-1].replace(b";", b","), np.int64, sep=",")
    except ValueError:
        return None
    if values.size != elements:
        return None
    largest = max(int(values.max()), -int(values.min()) if has_signs else 0)
    return (values, largest) if largest < SURELY_FIT_BELOW else None


def _many(fenced: bytes, elements: int) -> tuple[Offsets, int] | None:
    values, read, has_signs = np.empty(elements, np.int64), 0, b"-" in fenced
    most_digits = 0
    for piece in _pieces(fenced):
        found = _read(np.frombuffer(piece, np.uint8), has_signs)
        if found is None:
            return None
        values[read : read + found[0].size] = found[0]
        read += found[0].size
        most_digits = max(most_digits, found[1])
    return values, 10**most_digits - 1


def _pieces(fenced: bytes) -> Iterator[memoryview]:
    """Parts from one fence to another, which is the first of the next part."""
    start, last = 0, len(fenced) - 1
    while start < last:
        stop = min(start + PIECE_BYTES, last)
        while fenced[stop] not in b",;":
            stop += 1
        yield memoryview(fenced)[start : stop + 1]
        start = stop


def _read(text: Bytes, has_signs: bool) -> tuple[Offsets, int] | None:
    """The elements between the first fence and the last; None where one has no digit, too many, or
    a sign inside."""
    digits = text - _ZERO  # what is no digit wraps to 10 and more
    fences = np.flatnonzero(digits > 9)
    if not has_signs:
        return _values(digits, fences[1:], fences[1:] - fences[:-1] - 1)
    is_sign = text[fences] == _MINUS
    fences = fences[~is_sign]
    negative = text[fences[:-1] + 1] == _MINUS
    if np.count_nonzero(negative) != np.count_nonzero(is_sign):
        return None
    found = _values(digits, fences[1:], fences[1:] - fences[:-1] - 1 - negative)
    if found is not None:
        np.negative(found[0], out=found[0], where=negative)
    return found


def _values(digits: Bytes, ends: Offsets, lengths: Offsets) -> tuple[Offsets, int] | None:
    """Of elements with so many digits before each end: from the last place to the first.

    And how many digits the longest has.
    """
    longest = int(lengths.max())
    if lengths.min() < 1 or longest > SURELY_FIT_DIGITS:
        return None
    values = digits[ends - 1].astype(np.int64)
    for place in range(2, longest + 1):
        # in front of a shorter element stands a fence or a sign: not one of its digits
        digit = digits[ends - place] * (lengths >= place)
        values += digit * np.int64(10 ** (place - 1))
    return values, longest
