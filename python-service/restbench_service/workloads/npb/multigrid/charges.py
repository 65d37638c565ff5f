"""Where MG's right-hand side is not zero: at the extremes of a random field."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import random_numbers
from .classes import GridClass

CHARGES = 10
"""Of each sign."""
_POINTS_AT_ONCE = 2**20


class Charges(NamedTuple):
    """Positions in the interior, first axis fastest, ascending: +1 and -1."""

    positive: NDArray[np.int64]
    negative: NDArray[np.int64]


def search_bytes(size: GridClass) -> int:
    """Of the numbers among which is looked at once, with their positions and order."""
    return 8 * 4 * min(_POINTS_AT_ONCE, size.points**3)


def find_charges(size: GridClass) -> Charges:
    """The ten largest numbers of the stream that fills the interior, and the ten smallest."""
    positions = np.empty(0, np.int64)
    numbers = np.empty(0, np.uint64)
    total = size.points**3
    for first in range(0, total, _POINTS_AT_ONCE):
        count = min(_POINTS_AT_ONCE, total - first)
        numbers = np.concatenate((numbers, random_numbers.states(size.seed, first, count)))
        positions = np.concatenate((positions, np.arange(first, first + count)))
        order = np.argpartition(numbers, (CHARGES, numbers.size - CHARGES))
        extremes = np.concatenate((order[:CHARGES], order[-CHARGES:]))
        numbers, positions = numbers[extremes], positions[extremes]
    order = np.argsort(numbers)
    return Charges(np.sort(positions[order[-CHARGES:]]), np.sort(positions[order[:CHARGES]]))
