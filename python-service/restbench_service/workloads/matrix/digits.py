"""Rows of decimal integers read a digit's place at a time: numpy sees all elements at once."""

import numpy as np
from numpy.typing import NDArray

from .operands import Matrix

SURELY_FIT_DIGITS = 18
"""Any number of so many digits fits 64 bits; longer ones are for the validator to judge."""

_ZERO, _MINUS, _COMMA, _END_OF_ROW = b"0-,;"
Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


def matrix_of(rows: list[str], columns: int) -> Matrix | None:
    """The elements of `-?[0-9]+` between commas, rows x columns; None where it is not sure."""
    try:
        text = np.frombuffer((";".join(rows) + ";").encode("ascii"), np.uint8)
    except UnicodeEncodeError:
        return None
    digits = text - _ZERO  # what is no digit wraps to 10 and more
    others = np.flatnonzero(digits > 9)
    signs = others[text[others] == _MINUS]
    ends = others[text[others] != _MINUS] if signs.size else others
    if ends.size != len(rows) * columns or not _are_right_ends(text[ends], columns):
        return None
    starts = np.empty_like(ends)
    starts[0], starts[1:] = 0, ends[:-1] + 1
    negative = text[starts] == _MINUS if signs.size else None
    if negative is not None:
        if np.count_nonzero(negative) != signs.size:
            return None
        starts += negative
    values = _values(digits, starts, ends)
    if values is None:
        return None
    if negative is not None:
        np.negative(values, out=values, where=negative)
    return values.reshape(len(rows), columns)


def _are_right_ends(ends: Bytes, columns: int) -> bool:
    """Whether each row has its commas, and its end behind the last element."""
    table = ends.reshape(-1, columns)
    return bool((table[:, :-1] == _COMMA).all() and (table[:, -1] == _END_OF_ROW).all())


def _values(digits: Bytes, starts: Offsets, ends: Offsets) -> Matrix | None:
    """From the last place to the first; None where an element has no digit, or too many."""
    lengths = ends - starts
    longest = int(lengths.max())
    if lengths.min() < 1 or longest > SURELY_FIT_DIGITS:
        return None
    values = digits[ends - 1].astype(np.int64)
    for place in range(2, longest + 1):
        # in front of a shorter element stands a separator, or nothing: not one of its digits
        digit = digits[ends - place] * (lengths >= place)
        values += digit * np.int64(10 ** (place - 1))
    return values
