"""FT: a 3-D partial differential equation, solved by FFTs (NPB 3.4, ft.f).

A run transforms the initial field to waves. In each time step the waves decay and are transformed
back to a field with a checksum. Loops run over planes of equal z, or over rows of equal y for
transforms along z. Fields are nz x ny x nx, complex. The sign of the exponent is numpy's, the
opposite of NPB's: results are the same, as the decay does not depend on a wavenumber's sign.
"""

from dataclasses import dataclass
from functools import partial
from math import log, pi
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..workload import ParallelLoop
from . import random_numbers
from .kernel import Outcome, block_count, lines_of

Vector = NDArray[np.float64]
Field = NDArray[np.complex128]
ALPHA = 1e-6
EPSILON = 1e-12
CHECKED_POINTS = 1024
ROWS_AT_ONCE = 4
"""Rows whose columns along z are transformed together: half a MiB per row for class A."""


@dataclass(frozen=True)
class TransformClass:
    """Points along x, y, z, powers of two; the reference checksum of each iteration."""

    nx: int
    ny: int
    nz: int
    checksums: tuple[complex, ...]

    @property
    def points(self) -> int:
        """The number of points of the grid."""
        return self.nx * self.ny * self.nz

    @property
    def iterations(self) -> int:
        """The number of time steps, one per checksum."""
        return len(self.checksums)


# fmt: off
CLASSES = {
    "S": TransformClass(64, 64, 64, (
        554.6087004964 + 484.5363331978j, 554.6385409189 + 486.5304269511j,
        554.6148406171 + 488.3910722336j, 554.5423607415 + 490.1273169046j,
        554.4255039624 + 491.7475857993j, 554.2683411902 + 493.2597244941j,
    )),
    "W": TransformClass(128, 128, 32, (
        567.3612178944 + 529.3246849175j, 563.1436885271 + 528.2149986629j,
        559.4024089970 + 527.0996558037j, 556.0698047020 + 526.0027904925j,
        553.0898991250 + 524.9400845633j, 550.4159734538 + 523.9212247086j,
    )),
    "A": TransformClass(256, 256, 128, (
        504.6735008193 + 511.4047905510j, 505.9412319734 + 509.8809666433j,
        506.9376896287 + 509.8144042213j, 507.7892868474 + 510.1336130759j,
        508.5233095391 + 510.4914655194j, 509.1487099959 + 510.7917842803j,
    )),
    "B": TransformClass(512, 256, 256, (
        517.7643571579 + 507.7803458597j, 515.4521291263 + 508.8249431599j,
        514.6409228649 + 509.6208912659j, 514.2378756213 + 510.1023387619j,
        513.9626667737 + 510.3976610617j, 513.7423460082 + 510.5948019802j,
        513.5547056878 + 510.7404165783j, 513.3910925466 + 510.8576573661j,
        513.2470705390 + 510.9577278523j, 513.1197729984 + 511.0460304483j,
        513.0070319283 + 511.1252433800j, 512.9070537032 + 511.1968077718j,
        512.8182883502 + 511.2616233064j, 512.7393733383 + 511.3203605551j,
        512.6691062020 + 511.3735928093j, 512.6064276004 + 511.4218460548j,
        512.5504076570 + 511.4656139760j, 512.5002331720 + 511.5053595966j,
        512.4551951846 + 511.5415130407j, 512.4146770029 + 511.5744692211j,
    )),
    "C": TransformClass(512, 512, 512, (
        519.5078707457 + 514.9019699238j, 515.5422171134 + 512.7578201997j,
        514.4678022222 + 512.2251847514j, 514.0150594328 + 512.1090289018j,
        513.7550426810 + 512.1143685824j, 513.5811056728 + 512.1496764568j,
        513.4569343165 + 512.1870921893j, 513.3651975661 + 512.2193250322j,
        513.2955192805 + 512.2454735794j, 513.2410471738 + 512.2663649603j,
        513.1971141679 + 512.2830879827j, 513.1605205716 + 512.2965869718j,
        513.1290734194 + 512.3075927445j, 513.1012720314 + 512.3166486553j,
        513.0760908195 + 512.3241541685j, 513.0528295923 + 512.3304037599j,
        513.0310107773 + 512.3356167976j, 513.0103090133 + 512.3399592211j,
        512.9905029333 + 512.3435588985j, 512.9714421109 + 512.3465164008j,
    )),
}
# fmt: on


class FourierTransform:
    """The kernel FT. Its input is the initial field, which a run copies, as it transforms it."""

    classes = CLASSES

    def memory_bytes(self, size: TransformClass) -> int:
        """See Kernel. Waves and field; copies of a plane or of columns, also inside the FFT."""
        copied = max(size.nx * size.ny, ROWS_AT_ONCE * size.nx * size.nz)
        return 16 * (2 * size.points + 8 * copied)

    def input_bytes(self, size: TransformClass) -> int:
        """See Kernel. The input is one field."""
        return 16 * size.points

    def operations(self, size: TransformClass) -> float:
        """See Kernel. The formula is that of ft.f."""
        logarithm = log(size.points)
        steps = (5.23518 + 7.21113 * logarithm) * size.iterations
        return size.points * (14.8157 + 7.19641 * logarithm + steps)

    def generate(self, size: TransformClass) -> Field:
        """See Kernel. The initial field."""
        field = np.empty((size.nz, size.ny, size.nx), np.complex128)
        fill(0, 1, 1, field)
        return field

    def run(self, size: TransformClass, given: Field | None, loop: ParallelLoop) -> Outcome:
        """See Kernel. Every checksum is verified. Only an additional first transform is untimed."""
        solver = _Solver(size, given, loop)
        solver.begin()
        began = perf_counter()
        solver.begin()
        found = [solver.step() for _ in size.checksums]
        pairs = zip(found, size.checksums, strict=True)
        verified = all(abs(it - known) <= EPSILON * abs(known) for it, known in pairs)
        seconds = perf_counter() - began
        value, reference = _parts(found), _parts(size.checksums)
        return Outcome(verified, value, reference, size.iterations, seconds)


class _Solver:
    def __init__(self, size: TransformClass, given: Field | None, loop: ParallelLoop) -> None:
        self._size, self._given, self._loop = size, given, loop
        shape = (size.nz, size.ny, size.nx)
        self._planes, self._rows = size.nz, size.ny // ROWS_AT_ONCE
        self._waves = loop.array(shape, np.complex128)
        self._field = loop.array(shape, np.complex128)
        self._decay: list[Any] = []

    def begin(self) -> None:
        """Compute the waves of the initial field, and the decay of each wave in a time step."""
        if self._given is None:
            self._over(self._planes, fill, self._waves)
        else:
            self._waves[...] = self._given
        self._decay = [_decay(points) for points in self._waves.shape]
        self._over(self._planes, in_planes, np.fft.fft2, self._waves)
        self._over(self._rows, to_waves_along_z, self._waves)

    def step(self) -> complex:
        """Compute one more time step. The result is the field's checksum."""
        self._over(self._rows, decay_and_back_along_z, self._decay, self._waves, self._field)
        self._over(self._planes, in_planes, back, self._field)
        return self._checksum()

    def _checksum(self) -> complex:
        j = np.arange(1, CHECKED_POINTS + 1)
        nz, ny, nx = self._field.shape
        return complex(self._field[5 * j % nz, 3 * j % ny, j % nx].sum() / self._size.points)

    def _over(self, lines: int, body: Any, *arguments: Any) -> None:
        blocks = block_count(self._size.points, lines)
        self._loop.for_each(blocks, 1, body, blocks, *arguments)


def _decay(points: int) -> NDArray[np.float64]:
    """exp(-4 alpha pi**2 k**2) for an axis: k = 0 .. points/2 - 1, then -points/2 .. -1."""
    wavenumbers = (np.arange(points) + points // 2) % points - points // 2
    return np.exp(-4 * ALPHA * pi**2 * wavenumbers.astype(np.float64) ** 2)


def _parts(values: Any) -> list[list[float]]:
    return [[value.real, value.imag] for value in values]


def fill(start: int, stop: int, blocks: int, field: Any) -> None:
    """Fill planes with initial values: a point takes two numbers of the generator's one stream."""
    low, high = lines_of(start, stop, blocks, field.shape[0])
    numbers = field[low:high].reshape(-1).view(field.real.dtype)
    random_numbers.fill(numbers, 2 * low * field[0].size)


back = partial(np.fft.ifft2, norm="forward")
"""The inverse transform along x and y, unnormalised."""


def in_planes(start: int, stop: int, blocks: int, transform: Any, field: Any) -> None:
    """Transform along x and y, in place."""
    low, high = lines_of(start, stop, blocks, field.shape[0])
    for plane in field[low:high]:
        plane[...] = transform(plane)


def to_waves_along_z(start: int, stop: int, blocks: int, field: Any) -> None:
    """Transform along z, in place."""
    for rows in _rows(start, stop, blocks, field.shape[1]):
        field[:, rows] = np.fft.fft(field[:, rows], axis=0)


def decay_and_back_along_z(
    start: int, stop: int, blocks: int, decay: list[Vector], *fields: Any
) -> None:
    """A time step of the waves, in place, and their inverse transform along z to the field.

    `fields` is waves and field; `decay` has the factors of each z, of each y and of each x.
    """
    (along_z, along_y, along_x), (waves, field) = decay, fields
    for rows in _rows(start, stop, blocks, waves.shape[1]):
        in_plane = along_y[rows, None] * along_x
        waves[:, rows] *= along_z[:, None, None] * in_plane
        field[:, rows] = np.fft.ifft(waves[:, rows], axis=0, norm="forward")


def _rows(start: int, stop: int, blocks: int, row_count: int) -> list[slice]:
    low, high = lines_of(start, stop, blocks, row_count)
    return [slice(r, min(r + ROWS_AT_ONCE, high)) for r in range(low, high, ROWS_AT_ONCE)]
