"""Does a trial's place in its block show in its result: what ran before it (method, rule 2), and
whether it is among the first (rule 3)? Pure.

The effect of what ran before is found by the regression that rule 2 describes. Cells are weighted
by their own spread, as trials of one cell differ by 20 %, of another by 1 %. By randomisation noise
need not be normal, and one p value holds for all effects.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

import numpy as np
import numpy.typing as npt

from restbench.experiment.cell import Cell
from restbench.experiment.statistics import CONFIDENCE, pooled_deviation, t_tail
from restbench.grouping import grouped
from restbench.store.quoted import PredecessorEntry

#: The fewest trials of a cell in a block for it to count, and the fewest trials behind an effect.
FEWEST = 5
#: How many orders are drawn: the smallest p value is 1 / 500.
ORDERS, SEED = 499, 2
PROCESSES = ("its own process", "another process")
#: A smaller variance counts as 0; by this part, sums of equal numbers in another order may differ.
_NOTHING, _ROUNDING = 1e-12, 1e-9
#: The start of a cell in a block is this part of its trials there, which must be at least so many.
START_PART, FEWEST_WITH_A_START = 0.25, 12
#: Up to this p value a start counts as different: by chance in one of a hundred cells and blocks.
_DIFFERS = 0.01
Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
Course = Sequence[tuple[int, int, str, float]]
"""Block, round, cell and requests per second, above 0, of each trial in the order of measuring."""


def entry(course: Course, cells: Mapping[str, Cell]) -> PredecessorEntry | None:
    """The clearest effect of what ran before; None where cells have too few trials in a block."""
    known = [each for each in course if each[2] in cells]
    if not known:
        return None
    trials = _Trials.of(known, cells)
    logs = np.log([[per_s] for *_, per_s in known])
    weight = trials.weights(logs)
    residual = trials.within(logs, weight)[:, 0]

    def sums(order: Codes) -> Numbers:
        later, reported = trials.after(order)
        found = np.bincount(reported, (weight * residual)[later], len(trials.labels))
        return found.astype(np.float64)

    observed = np.arange(len(known))
    before = np.zeros((len(known), len(trials.labels)))
    before[trials.after(observed)] = 1.0
    spread = before * trials.within(before, weight)
    information = weight @ spread
    random = np.random.default_rng(SEED)
    orders = (np.argsort(trials.round + random.random(len(known))) for _ in range(ORDERS))
    drawn = np.array([sums(observed), *map(sums, orders)])
    error = drawn.std(axis=0)
    usable = np.flatnonzero(((weight > 0) @ spread >= FEWEST) & (error > _NOTHING))
    if not usable.size:
        return None
    distance = (drawn - drawn.mean(axis=0))[:, usable] / error[usable]
    largest = np.abs(distance).max(axis=1)
    at = int(np.abs(distance[0]).argmax())
    label = int(usable[at])
    scale = error[label] / information[label]
    half = float(np.quantile(largest, CONFIDENCE))
    low, effect, high = (
        100 * float(np.expm1(scale * (distance[0, at] + each))) for each in (-half, 0.0, half)
    )
    return PredecessorEntry(
        after=trials.labels[label],
        effect_percent=effect,
        low=low,
        high=high,
        p_value=float((largest >= largest[0] * (1 - _ROUNDING)).mean()),
    )


@dataclass(frozen=True)
class _Trials:
    """Arrays with a member for each trial, in the order of measuring."""

    labels: list[str]
    """What can run before a trial: each cell, each service, its own process or another."""
    block: Codes
    round: Codes
    """The round's number, counted over all blocks; a trial's place in its round is random."""
    stratum: Codes
    """Which cell in which block."""
    cell: Codes
    """The index in `labels` of the trial's cell; `service` has the index of its service."""
    service: Codes
    process: Codes

    @classmethod
    def of(cls, course: Course, cells: Mapping[str, Cell]) -> _Trials:
        block, number = (np.array([each[n] for each in course]) for n in (0, 1))
        names, cell = _coded([each[2] for each in course])
        services, service = _coded([cells[name].service for name in names])
        _, process = _coded([cells[name].service_group.name for name in names])
        begins = (np.diff(block, prepend=0) != 0) | (np.diff(number, prepend=0) != 0)
        _, stratum = np.unique(block * len(names) + cell, return_inverse=True)
        labels = [*names, *(f"any cell of {each}" for each in services), *PROCESSES]
        place = len(names) + service[cell]
        return cls(labels, block, np.cumsum(begins), stratum, cell, place, process[cell])

    def weights(self, values: Numbers) -> Numbers:
        """For each trial: one over the variance of its cell within blocks; 0 where the cell does
        not vary, or has too few trials in the block."""
        size = np.bincount(self.stratum)[self.stratum]
        squares = (values - _means(values, self.stratum))[:, 0] ** 2
        enough = (size >= FEWEST).astype(float)
        freedom = np.bincount(self.cell, enough * (1 - 1 / size))
        variance = np.bincount(self.cell, enough * squares) / np.maximum(freedom, 1)
        kept = enough * (variance[self.cell] > _NOTHING)
        return kept / np.maximum(variance[self.cell], _NOTHING)

    def within(self, values: Numbers, weight: Numbers) -> Numbers:
        """The columns less the cell's mean in the block, then less the round's weighted mean."""
        values = values - _means(values, self.stratum)
        return values - _means(values, self.round, weight)

    def after(self, order: Codes) -> tuple[Codes, Codes]:
        """The trials that have a predecessor in their block, three times, and the predecessors'
        labels: the cell, the service, and the same process or another."""
        before, later = order[:-1], order[1:]
        is_within = self.block[before] == self.block[later]
        before, later = before[is_within], later[is_within]
        other = self.process[before] != self.process[later]
        reported = (
            self.cell[before],
            self.service[before],
            len(self.labels) - len(PROCESSES) + other,
        )
        return np.tile(later, 3), np.concatenate(reported)


def _coded(texts: Sequence[str]) -> tuple[list[str], Codes]:
    """The different texts, and of each text which of them it is."""
    names, codes = np.unique(texts, return_inverse=True)
    return names.tolist(), codes


def _means(values: Numbers, group: Codes, weight: Numbers | None = None) -> Numbers:
    """For each member the mean of its group, column by column; 0 where the group has no weight."""
    weight = np.ones(group.size) if weight is None else weight
    sums = np.zeros((group.max() + 1, values.shape[1]))
    np.add.at(sums, group, weight[:, None] * values)
    whole = np.bincount(group, weight)
    means: Numbers = (sums / np.where(whole > 0, whole, 1.0)[:, None])[group]
    return means


def start_gaps(course: Course) -> dict[tuple[int, str], float]:
    """By block and cell: how far the first trials move the cell's throughput away from that of the
    rest, as a part of the latter; 0 where chance explains it. Trials are compared by the logarithm
    of their throughput over the median of their cell in the block, less the median of this value
    over the other trials of the round. So what slows down all trials of a round has no effect.
    """
    of_place = grouped(course, lambda each: (each[0], each[2]))
    usual = {place: median(math.log(each[3]) for each in of) for place, of in of_place.items()}
    ahead: dict[tuple[int, str], list[float]] = {}
    for (block, _), trials in groupby(course, key=lambda each: each[:2]):
        here = [((block, of), math.log(per_s) - usual[block, of]) for *_, of, per_s in trials]
        for n, (place, own) in enumerate(here):
            if others := [of for _, of in (*here[:n], *here[n + 1 :])]:
                ahead.setdefault(place, []).append(own - median(others))
    return {
        place: _start_gap(np.array(values))
        for place, values in ahead.items()
        if len(values) >= FEWEST_WITH_A_START
    }


def _start_gap(values: Numbers) -> float:
    """The gap of one cell in one block, by Student's t of the first trials against the rest."""
    parts = np.split(values, [round(START_PART * values.size)])
    error = pooled_deviation(parts) * math.sqrt(sum(1 / each.size for each in parts))
    change = abs(float(parts[0].mean() - parts[1].mean()))
    if 2 * t_tail(change / max(error, _NOTHING), values.size - len(parts)) > _DIFFERS:
        return 0.0
    return math.expm1(change * parts[0].size / values.size)
