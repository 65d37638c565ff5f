"""The search for the highest rate that meets an objective: pure decisions on what was tried.

Upward by a factor until a rate fails, or downward until one meets it; then bisection until the
bracket is as narrow as asked for. Each rate is tried once: that a step was lucky or unlucky shows
in the other blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_SIGNIFICANT_DIGITS = 4
#: What rounding to these digits does to a ratio of two rates.
_ROUNDING = 1e-3


@dataclass(frozen=True)
class Search:
    """How a walk goes."""

    factor: float
    """From one rate to the next while none has failed (or, downward, none has met)."""
    resolution: float
    """The bracket's ends differ by this share at most, e.g. 0.05."""
    lowest_per_s: float
    highest_per_s: float


@dataclass(frozen=True)
class Tried:
    """One step: a rate, and whether it met the objective."""

    rate_per_s: float
    met: bool


@dataclass(frozen=True)
class Bracket:
    """What a walk has found: the objective is met at `met_per_s` and not at `failed_per_s`."""

    met_per_s: float | None
    """The highest that met it, of those below every one that failed; None where none did."""
    failed_per_s: float | None
    """The lowest that failed; None where none did."""

    @property
    def limit_per_s(self) -> float | None:
        """Between the two, at equal ratios to both; None where one is not known."""
        if self.met_per_s is None or self.failed_per_s is None:
            return None
        return math.sqrt(self.met_per_s * self.failed_per_s)

    def is_narrow(self, resolution: float) -> bool:
        """Whether both ends are known and differ by this share at most."""
        if self.met_per_s is None or self.failed_per_s is None:
            return False
        return self.failed_per_s / self.met_per_s <= 1 + resolution + _ROUNDING


def next_rate(tried: Sequence[Tried], start_per_s: float, search: Search) -> float | None:
    """The rate of the next step, per second; None when the walk is over."""
    if not tried:
        return _rounded(min(max(start_per_s, search.lowest_per_s), search.highest_per_s))
    found = bracket(tried)
    if found.limit_per_s is not None:
        return None if found.is_narrow(search.resolution) else _rounded(found.limit_per_s)
    if found.met_per_s is not None:
        return _beyond(found.met_per_s, search.factor, search.highest_per_s)
    return _beyond(found.failed_per_s or 0.0, 1 / search.factor, search.lowest_per_s)


def bracket(tried: Sequence[Tried]) -> Bracket:
    """The highest rate that met the objective below the lowest that did not."""
    failed = min((each.rate_per_s for each in tried if not each.met), default=None)
    met = [each.rate_per_s for each in tried if each.met]
    below = [rate for rate in met if failed is None or rate < failed]
    return Bracket(max(below, default=None), failed)


def _beyond(rate: float, factor: float, limit: float) -> float | None:
    """The next rate in a direction, the limit itself before it is passed; None once it is tried."""
    if rate == _rounded(limit):
        return None
    return _rounded(min(rate * factor, limit) if factor > 1 else max(rate * factor, limit))


def _rounded(rate: float) -> float:
    return float(f"{rate:.{_SIGNIFICANT_DIGITS}g}")
