"""The run of FT: field, waves, and for each time step the field again and its checksum."""

from math import log, pi
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...workload import ParallelLoop
from ..blocks import block_count
from ..kernel import Outcome
from . import passes
from .classes import CLASSES, TransformClass

Field = NDArray[np.complex128]
"""nz x ny x nx."""
ALPHA = 1e-6
EPSILON = 1e-12
CHECKED_POINTS = 1024


class FourierTransform:
    """FT. Its input is the initial field, which a run transforms and therefore copies."""

    classes = CLASSES

    def memory_bytes(self, size: TransformClass) -> int:
        """Waves and field; copies of a plane or of columns, with the FFT's own."""
        copied = max(size.nx * size.ny, passes.ROWS_AT_ONCE * size.nx * size.nz)
        return 16 * (2 * size.points + 8 * copied)

    def input_bytes(self, size: TransformClass) -> int:
        """One field."""
        return 16 * size.points

    def operations(self, size: TransformClass) -> float:
        """By ft.f."""
        logarithm = log(size.points)
        steps = (5.23518 + 7.21113 * logarithm) * size.iterations
        return size.points * (14.8157 + 7.19641 * logarithm + steps)

    def generate(self, size: TransformClass) -> Field:
        """The initial field."""
        field = np.empty((size.nz, size.ny, size.nx), np.complex128)
        passes.fill(0, 1, 1, size.seed, field)
        return field

    def run(self, size: TransformClass, given: Field | None, loop: ParallelLoop) -> Outcome:
        """Every checksum is verified. Only the transform before the timed region is left out."""
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
        self._waves = loop.array(shape, np.complex128)
        self._field = loop.array(shape, np.complex128)
        self._decay: list[Any] = []

    def begin(self) -> None:
        """The waves of the initial field, and how each decays in a time step."""
        if self._given is None:
            self._over_planes(passes.fill, self._size.seed, self._waves)
        else:
            self._waves[...] = self._given
        self._decay = [_decay(points) for points in self._waves.shape]
        self._over_planes(passes.to_waves_in_planes, self._waves)
        self._over_rows(passes.to_waves_along_z, self._waves)

    def step(self) -> complex:
        """The checksum after one more time step."""
        self._over_rows(passes.decay_and_back_along_z, self._decay, self._waves, self._field)
        self._over_planes(passes.back_in_planes, self._field)
        return self._checksum()

    def _checksum(self) -> complex:
        j = np.arange(1, CHECKED_POINTS + 1)
        nz, ny, nx = self._field.shape
        return complex(self._field[5 * j % nz, 3 * j % ny, j % nx].sum() / self._size.points)

    def _over_planes(self, body: Any, *arguments: Any) -> None:
        blocks = block_count(self._size.points, self._size.nz)
        self._loop.for_each(blocks, 1, body, blocks, *arguments)

    def _over_rows(self, body: Any, *arguments: Any) -> None:
        blocks = block_count(self._size.points, self._size.ny // passes.ROWS_AT_ONCE)
        self._loop.for_each(blocks, 1, body, blocks, *arguments)


def _decay(points: int) -> NDArray[np.float64]:
    """exp(-4 alpha pi**2 k**2) of an axis's wavenumbers, which run to half the points and back."""
    wavenumbers = (np.arange(points) + points // 2) % points - points // 2
    return np.exp(-4 * ALPHA * pi**2 * wavenumbers.astype(np.float64) ** 2)


def _parts(values: Any) -> list[list[float]]:
    return [[value.real, value.imag] for value in values]
