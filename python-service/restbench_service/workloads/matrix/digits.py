"""Rows of decimal integers read a digit's place at a time: numpy sees all elements at once."""

import numpy as np
from numpy.typing import NDArray

from .operands import Matrix

SURELY_FIT_DIGITS = 18
"""Any number of so many digits fits 64 bits; longer ones are for the validator to judge."""

_ZERO, _MINUS = b"0-"
_BETWEEN, _END_OF_ROW = b",", b";"
Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


def matrix_of(rows: list[str], columns: int) -> Matrix | None:
    """The elements of `-?[0-9]+` between commas, rows x columns; None where it is not sure."""
    try:
        fenced = f";{';'.join(rows)};".encode("ascii")
    except UnicodeEncodeError:
        return None
    text = np.frombuffer(fenced, np.uint8)
    digits = text - _ZERO  # what is no digit wraps to 10 and more
    fences = np.flatnonzero(digits > 9)
    negative = None
    if b"-" in fenced:
        signs = text[fences] == _MINUS
        fences = fences[~signs]
        negative = text[fences[:-1] + 1] == _MINUS
        if np.count_nonzero(negative) != np.count_nonzero(signs):
            return None
    if fences.size != len(rows) * columns + 1 or not _are_of(text[fences], len(rows), columns):
        return None
    values = _values(digits, fences, negative)
    return None if values is None else values.reshape(len(rows), columns)


def _are_of(fences: Bytes, rows: int, columns: int) -> bool:
    """Whether each row has its commas. Only for as many as there are: what `columns` says is as
    large as the client likes."""
    expected = _END_OF_ROW + (_BETWEEN * (columns - 1) + _END_OF_ROW) * rows
    return fences.tobytes() == expected


def _values(digits: Bytes, fences: Offsets, negative: NDArray[np.bool] | None) -> Matrix | None:
    """From the last place to the first; None where an element has no digit, or too many."""
    ends = fences[1:]
    lengths = ends - fences[:-1]
    lengths -= 1 if negative is None else 1 + negative
    longest = lengths.max()
    if lengths.min() < 1 or longest > SURELY_FIT_DIGITS:
        return None
    values = digits[ends - 1].astype(np.int64)
    for place in range(2, longest + 1):
        # in front of a shorter element stands a fence or a sign: not one of its digits
        digit = digits[ends - place] * (lengths >= place)
        values += digit * np.int64(10 ** (place - 1))
    if negative is not None:
        np.negative(values, out=values, where=negative)
    return values
