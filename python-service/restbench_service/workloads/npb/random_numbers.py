"""NPB's generator: x' = 5**13 x mod 2**46, a number is x' / 2**46 (NPB 3.4, randdp).

The reference computes with halves of 23 bits in doubles. 64-bit integers that wrap around give the
same result, because the low 46 bits of a product do not depend on the bits above.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.uint64]

MULTIPLIER = 5**13
SEED = 314159265
BITS = 46
MODULUS = 1 << BITS
UNIT = 2.0**-BITS
"""A state times this is the number, exactly: a state has fewer bits than a double."""
CHUNK = 2**16
"""States made at once: 512 KiB, which stays in a core's cache until it is used."""


def after(state: int, steps: int) -> int:
    """The state that follows `state` after so many steps; negative steps go back."""
    return state * pow(MULTIPLIER, steps, MODULUS) % MODULUS


def states(first: int, count: int) -> Integers:
    """The states number first .. first + count - 1; number 0 is the state after the SEED."""
    result = np.empty(count, np.uint64)
    for start in range(0, count, CHUNK):
        part = result[start : start + CHUNK]
        np.multiply(_POWERS[: part.size], np.uint64(after(SEED, first + start)), out=part)
        part &= np.uint64(MODULUS - 1)
    return result


def fill(out: NDArray[np.floating[Any]], first: int) -> None:
    """Fill a flat array with the random numbers from number `first` on; they are in (0, 1)."""
    for start in range(0, out.size, CHUNK):
        part = out[start : start + CHUNK]
        np.multiply(states(first + start, part.size), UNIT, out=part, casting="same_kind")


def _powers(count: int) -> Integers:
    """MULTIPLIER ** (1 .. count) mod MODULUS; count is a power of two."""
    powers = np.full(1, MULTIPLIER, np.uint64)
    while powers.size < count:
        later = powers * powers[-1] & np.uint64(MODULUS - 1)
        powers = np.concatenate((powers, later))
    powers.flags.writeable = False
    return powers


_POWERS = _powers(CHUNK)
