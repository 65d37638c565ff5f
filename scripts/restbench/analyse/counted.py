"""Values that come again and again, such as whole milliseconds: each of them once, with how often
it came. Exact, and no larger for more samples."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from restbench.experiment.statistics import COMPLETIONS_NEEDED


@dataclass(frozen=True)
class Counted:
    """`values` ascend, each once; `counts`, as long, says how often each came (at least once)."""

    values: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]

    @property
    def size(self) -> int:
        """How many there are, each as often as it came."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float | None:
        """Their mean; None of nothing."""
        return float(self.values @ self.counts) / self.size if self.size else None

    @property
    def largest(self) -> float | None:
        """The largest; None of nothing."""
        return float(self.values[-1]) if self.values.size else None

    def above(self, limit: float) -> int:
        """How many are larger."""
        return int(self.counts[self.values > limit].sum())

    def percentile(self, percent: float) -> float:
        """The exact percentile by nearest rank: the smallest value that at least `percent` of all
        do not exceed. Nothing is interpolated, sampled or binned. ValueError of nothing."""
        if not self.size:
            raise ValueError("nothing has no percentile")
        rank = max(1, math.ceil(Fraction(str(percent)) * self.size / 100))
        return float(self.values[np.searchsorted(np.cumsum(self.counts), rank)])

    def supported_percentile(self, percent: float) -> float | None:
        """The same; None where there are too few values to show it (COMPLETIONS_NEEDED)."""
        return self.percentile(percent) if self.size >= COMPLETIONS_NEEDED[percent] else None


def of(values: Iterable[int]) -> Counted:
    """Values one by one."""
    found, counts = np.unique(np.fromiter(values, dtype=np.int64), return_counts=True)
    return Counted(found, counts)


NOTHING = of([])


def together(every: Iterable[Counted]) -> Counted:
    """The values of all of them."""
    parts = list(every)
    if len(parts) <= 1:
        return parts[0] if parts else NOTHING
    values, places = np.unique(np.concatenate([each.values for each in parts]), return_inverse=True)
    counts = np.bincount(places, np.concatenate([each.counts for each in parts]), values.size)
    return Counted(values, counts.astype(np.int64))
