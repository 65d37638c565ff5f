"""How a quantity grows with a size: the exponent of its power law, and whether it may be so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from restbench.experiment.statistics import Interval, t_interval

#: Above what is expected by no more than this a growth is no fault: with eight times the size it
#: is less than twice the time, which is what memory further away costs where caches end.
TOLERANCE = 0.3
FEWEST_SIZES = 3

Verdict = Literal["as expected", "grows faster", "too small to tell"]


@dataclass(frozen=True)
class Series:
    """A quantity at ascending sizes, measured in rounds."""

    server: str
    """Whose: `java serial`."""
    what: str
    """`parse, cubes loops`."""
    over: str
    """What grows: `n`, `rows`, `users`, `tasks`, `processes`."""
    expected: float
    """The largest exponent that is right."""
    sizes: tuple[int, ...]
    rounds: tuple[tuple[float, ...], ...]
    """Of each round a value above 0 a size."""


@dataclass(frozen=True)
class Fit:
    """What became of a series."""

    series: Series
    """Of the sizes that the exponent is of; of all where there is none."""
    exponent: Interval | None
    """Over the rounds; None where too little could be measured."""

    @property
    def verdict(self) -> Verdict:
        """Whether it grows faster than it should, beyond what its interval leaves open."""
        if self.exponent is None:
            return "too small to tell"
        faster = self.exponent.low > self.series.expected + TOLERANCE
        return "grows faster" if faster else "as expected"


def fit(series: Series, smallest: float = 0.0) -> Fit:
    """The exponent in each round by least squares on logarithms, with a t interval over rounds.

    Sizes at which a round's value is below `smallest`, what the clock can tell, are left out.
    """
    known = [
        column
        for column in range(len(series.sizes))
        if all(values[column] >= smallest and values[column] > 0 for values in series.rounds)
    ]
    if len(known) < FEWEST_SIZES:
        return Fit(series, None)
    used = replace(
        series,
        sizes=tuple(series.sizes[column] for column in known),
        rounds=tuple(tuple(values[column] for column in known) for values in series.rounds),
    )
    return Fit(used, t_interval([exponent(used.sizes, values) for values in used.rounds]))


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The b of `value = a * size**b`, by least squares on the logarithms of both."""
    return float(np.polyfit(np.log(sizes), np.log(values), deg=1)[0])
