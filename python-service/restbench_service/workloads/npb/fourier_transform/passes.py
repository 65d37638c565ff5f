"""What the loops of FT run: on planes of equal z, or on columns along z above some rows.

Fields are nz x ny x nx, complex. The sign of the exponent is numpy's, the opposite of NPB's: all
results are the same, because the decay does not depend on the sign of a wavenumber.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import random_numbers
from ..blocks import lines_of

Vector = NDArray[np.float64]
ROWS_AT_ONCE = 4
"""Of columns along z: so many rows are copied together, half a mebibyte for class A."""


def fill(start: int, stop: int, blocks: int, seed: int, field: Any) -> None:
    """The planes' initial values: two numbers of the generator's one stream each."""
    low, high = lines_of(start, stop, blocks, field.shape[0])
    numbers = field[low:high].reshape(-1).view(field.real.dtype)
    random_numbers.fill(numbers, seed, 2 * low * field[0].size)


def to_waves_in_planes(start: int, stop: int, blocks: int, field: Any) -> None:
    """Transform along x and y, in place."""
    low, high = lines_of(start, stop, blocks, field.shape[0])
    for plane in field[low:high]:
        plane[...] = np.fft.fft2(plane)


def to_waves_along_z(start: int, stop: int, blocks: int, field: Any) -> None:
    """Transform along z, in place."""
    for rows in _rows(start, stop, blocks, field.shape[1]):
        field[:, rows] = np.fft.fft(field[:, rows], axis=0)


def decay_and_back_along_z(
    start: int, stop: int, blocks: int, decay: list[Vector], *fields: Any
) -> None:
    """A time step of the waves, in place, and its inverse transform along z in the second field.

    `decay` is a factor for each z, y and x.
    """
    (along_z, along_y, along_x), (waves, field) = decay, fields
    for rows in _rows(start, stop, blocks, waves.shape[1]):
        in_plane = along_y[rows, None] * along_x
        waves[:, rows] *= along_z[:, None, None] * in_plane
        field[:, rows] = np.fft.ifft(waves[:, rows], axis=0, norm="forward")


def back_in_planes(start: int, stop: int, blocks: int, field: Any) -> None:
    """The inverse transform along x and y, in place and unnormalised."""
    low, high = lines_of(start, stop, blocks, field.shape[0])
    for plane in field[low:high]:
        plane[...] = np.fft.ifft2(plane, norm="forward")


def _rows(start: int, stop: int, blocks: int, row_count: int) -> list[slice]:
    low, high = lines_of(start, stop, blocks, row_count)
    return [slice(r, min(r + ROWS_AT_ONCE, high)) for r in range(low, high, ROWS_AT_ONCE)]
