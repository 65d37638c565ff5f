"""Steps in a cell's course over runs: between which two runs a metric changed, and by how much.

The unit is the run, as hours differ more than blocks of one hour do (method, rule 14): a run counts
with the geometric mean of its blocks. A segment of runs is cut where some consecutive runs differ
most from the rest of the segment, by Student's t with the pooled variance (circular binary
segmentation, Olshen et al. 2004); the parts are cut again in the same way. A part at the end of a
segment may be a single run, a part within it has at least two: one slow hour is no step. A cut
counts where it is larger than the margin and p, times the number of places tried, is at most the
level. The level is that of Benjamini and Hochberg (1995) over all courses that are analysed
together: of the courses reported with a step at most 5 % have none, and where nothing changed, a
step is found in 5 % of all cases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from restbench.analyse.comparison import MARGIN
from restbench.experiment.statistics import Ratio, geometric_mean, pooled_deviation, t_tail

#: Two runs on each side give two degrees of freedom; with fewer runs no step is sought.
FEWEST_RUNS = 4
#: The fewest runs of a part within a segment; at the segment's ends one run is enough.
FEWEST_WITHIN = 2
LEVEL = 0.05

#: For each run, in order of time, the values of its blocks; all above 0.
Course: TypeAlias = Sequence[Sequence[float]]
_Logs: TypeAlias = npt.NDArray[np.float64]
_Places: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Step:
    """A change between the runs `at` - 1 and `at` of a course."""

    at: int
    ratio: Ratio
    """The runs after the step, up to the next step, over the runs before it."""


def find(courses: Sequence[Course]) -> list[list[Step]]:
    """The steps of each of several courses that are analysed together."""
    logs = [np.log([geometric_mean(run) for run in course]) for course in courses]
    bests = [_best_cut(each, 0, each.size) for each in logs]
    own = _benjamini_hochberg([p_value for *_, p_value in bests], LEVEL)
    return [_steps(each, _cuts(each, 0, each.size, own)) for each in logs]


def _benjamini_hochberg(p_values: Sequence[float], level: float) -> float:
    """The level that a p value must not exceed, 0 where none holds."""
    ordered = sorted(p_values)
    held = [rank for rank, p in enumerate(ordered, 1) if p <= level * rank / len(ordered)]
    return level * max(held) / len(ordered) if held else 0.0


def _cuts(logs: _Logs, begin: int, end: int, level: float) -> list[int]:
    """Where the runs from `begin` to before `end` are cut, in order. Segments share the level in
    proportion to their lengths, so that it holds for the whole course with any number of cuts."""
    first, last, p_value = _best_cut(logs, begin, end)
    if p_value > level * (end - begin) / logs.size:
        return []
    inner = [at for at in (first, last) if begin < at < end]
    further = [_cuts(logs, one, two, level) for one, two in pairwise([begin, *inner, end])]
    return sorted(inner + [at for each in further for at in each])


def _best_cut(logs: _Logs, begin: int, end: int) -> tuple[int, int, float]:
    """The cut with the largest t among those beyond the margin, and its p value, which is 1 where
    there is none: the runs from the first place to before the last differ from the rest."""
    if end - begin < FEWEST_RUNS:
        return begin, end, 1.0
    first, last = _places(end - begin)
    t, change = _cut_at(logs[begin:end], first, last)
    t[change <= math.log1p(MARGIN)] = 0.0
    best = int(t.argmax())
    p_value = min(1.0, t.size * 2 * t_tail(float(t[best]), end - begin - 2))
    return begin + int(first[best]), begin + int(last[best]), p_value


def _places(runs: int) -> tuple[_Places, _Places]:
    """Every (first, last) to try. A part at the segment's end is not among them: its cut is the
    same as that of the part before it, which begins the segment."""
    heads = [(0, last) for last in range(1, runs)]
    within = [
        (first, last)
        for first in range(1, runs - FEWEST_WITHIN)
        for last in range(first + FEWEST_WITHIN, runs)
    ]
    first, last = zip(*heads, *within, strict=True)
    return np.array(first), np.array(last)


def _cut_at(segment: _Logs, first: _Places, last: _Places) -> tuple[_Logs, _Logs]:
    """Student's t of the runs within against those outside, and the size of their difference."""
    centred = segment - segment.mean()
    total, squares = np.concatenate(([0.0], centred.cumsum())), float(centred @ centred)
    inside, within = last - first, total[last] - total[first]
    outside = segment.size - inside
    # The mean is 0: what lies outside sums up to the negative of what lies inside.
    change = np.abs(within / inside + within / outside)
    rest = np.maximum(0.0, squares - within**2 * (1 / inside + 1 / outside))
    error = np.sqrt(rest / (segment.size - 2) * (1 / inside + 1 / outside))
    # Equal runs have no spread except rounding errors.
    return change / np.maximum(error, 1e-12), change


def _steps(logs: _Logs, cuts: Sequence[int]) -> list[Step]:
    if not cuts:
        return []
    parts = np.split(logs, cuts)
    deviation, freedom = pooled_deviation(parts), float(logs.size - len(parts))
    found = []
    for at, (before, after) in zip(cuts, pairwise(parts), strict=True):
        estimate = math.exp(float(after.mean() - before.mean()))
        error = deviation * math.sqrt(1 / before.size + 1 / after.size)
        found.append(Step(at, Ratio.around(estimate, freedom, error)))
    return found
