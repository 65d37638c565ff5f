"""Does what ran before a trial show in its result (method, rule 2)? Pure.

A regression: the logarithm of a trial's throughput, less the mean of its cell in its block, on what
ran just before it. Cells are weighed by their own spread: trials of one differ by 20 %, of another
by 1 %. The test is by randomisation: the order within each round is drawn anew, as the run drew it.
So noise need not be normal, drift raises no alarm, and one p value holds over all effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from restbench.experiment.cell import Cell
from restbench.experiment.statistics import CONFIDENCE
from restbench.store.quoted import PredecessorEntry

#: Trials that a cell needs in a block to be looked at, and that an effect needs to be seen in.
FEWEST = 5
#: How many orders are drawn: the smallest p value is 1 / 500.
ORDERS, SEED = 499, 2
#: A variance below is none; so far from 1, sums of the same numbers in another order may differ.
_NOTHING = 1e-12
_ROUNDING = 1e-9
PROCESSES = ("its own process", "another process")
Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
Course = Sequence[tuple[int, int, str, float]]
"""Block, round, cell and requests per second, above 0, of each trial in the order of measuring."""


def entry(course: Course, cells: Mapping[str, Cell]) -> PredecessorEntry | None:
    """The clearest effect of what ran before; None where cells have too few trials in a block."""
    known = [each for each in course if each[2] in cells]
    if not known:
        return None
    made = _Trials.of(known, cells)
    information = made.information()
    random = np.random.default_rng(SEED)
    orders = (np.argsort(made.round + random.random(len(known))) for _ in range(ORDERS))
    sums = np.array([made.sums(np.arange(len(known))), *map(made.sums, orders)])
    error = sums.std(axis=0)
    usable = np.flatnonzero((information > 0) & (error > _NOTHING))
    if not usable.size:
        return None
    distance = (sums - sums.mean(axis=0))[:, usable] / error[usable]
    largest = np.abs(distance).max(axis=1)
    at = int(np.abs(distance[0]).argmax())
    label = int(usable[at])
    scale = error[label] / information[label]
    half = float(np.quantile(largest, CONFIDENCE))
    effect, low, high = (
        100 * float(np.expm1(scale * (distance[0, at] + each))) for each in (0, -half, half)
    )
    is_as_large = largest >= largest[0] * (1 - _ROUNDING)
    return PredecessorEntry(
        after=made.labels[label],
        effect_percent=effect,
        low=low,
        high=high,
        p_value=float(is_as_large.mean()),
    )


@dataclass(frozen=True)
class _Trials:
    """Arrays with a member for each trial, in the order of measuring."""

    labels: list[str]
    """Of what can run before: each cell, each service, the trial's own process or another."""
    block: Codes
    round: Codes
    """Counted through; a trial's place in it is by chance."""
    stratum: Codes
    """Which cell in which block."""
    cell: Codes
    """Its label, as the next two."""
    service: Codes
    process: Codes
    residual: Numbers
    weight: Numbers

    @classmethod
    def of(cls, course: Course, cells: Mapping[str, Cell]) -> _Trials:
        block, number = (np.array([each[n] for each in course]) for n in (0, 1))
        names, cell = _coded([each[2] for each in course])
        services, service = _coded([cells[name].service for name in names])
        _, process = _coded([cells[name].service_group.name for name in names])
        begins = (np.diff(block, prepend=0) != 0) | (np.diff(number, prepend=0) != 0)
        _, stratum = np.unique(block * len(names) + cell, return_inverse=True)
        logs = np.log([each[3] for each in course])
        size = np.bincount(stratum)[stratum]
        residual = logs - np.bincount(stratum, logs)[stratum] / size
        return cls(
            [*names, *(f"any cell of {each}" for each in services), *PROCESSES],
            block,
            np.cumsum(begins),
            stratum,
            cell,
            len(names) + service[cell],
            process[cell],
            residual,
            _weights(residual, cell, size),
        )

    def sums(self, order: Codes) -> Numbers:
        """By label: the weighted residuals of the trials after it, added up."""
        later, told = self._after(order)
        return np.bincount(told, (self.weight * self.residual)[later], len(self.labels))

    def information(self) -> Numbers:
        """By label: what its sum is divided by to be the effect, as the mean of each stratum counts
        what ran before, too; 0 where there is too little of it."""
        count = len(self.labels)
        later, told = self._after(np.arange(self.block.size))
        size = np.bincount(self.stratum)
        seen = np.bincount(self.stratum[later] * count + told, minlength=size.size * count)
        seen = seen.reshape(size.size, count)
        spread = seen - seen**2 / size[:, None]
        weight = np.bincount(self.stratum, self.weight) / size
        return np.where((weight > 0) @ spread >= FEWEST, weight @ spread, 0.0)

    def _after(self, order: Codes) -> tuple[Codes, Codes]:
        """Each trial with one before it in its block, three times, and the labels of that."""
        before, later = order[:-1], order[1:]
        is_within = self.block[before] == self.block[later]
        before, later = before[is_within], later[is_within]
        other = self.process[before] != self.process[later]
        told = (self.cell[before], self.service[before], len(self.labels) - len(PROCESSES) + other)
        return np.tile(later, 3), np.concatenate(told)


def _coded(texts: Sequence[str]) -> tuple[list[str], Codes]:
    """The different texts, and of each text which of them it is."""
    names, codes = np.unique(texts, return_inverse=True)
    return names.tolist(), codes


def _weights(residual: Numbers, cell: Codes, size: Codes) -> Numbers:
    """One over the variance of the trial's cell within blocks; 0 where the cell does not vary, or
    has too few trials in the block (`size`)."""
    enough = size >= FEWEST
    squares = np.bincount(cell, np.where(enough, residual**2, 0.0))
    freedom = np.bincount(cell, np.where(enough, 1 - 1 / size, 0.0))
    variance = (squares / np.maximum(freedom, 1))[cell]
    return np.where(enough & (variance > _NOTHING), 1 / np.maximum(variance, _NOTHING), 0.0)
