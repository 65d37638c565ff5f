"""The search for the highest rate that meets an objective: pure decisions on what was tried.

Upward by a factor until a rate fails, then bisection until the bracket is as narrow as asked for,
then both ends are repeated until one side has the votes: one lucky or unlucky step decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_SIGNIFICANT_DIGITS = 4


@dataclass(frozen=True)
class Search:
    """How a walk goes."""

    factor: float
    """From one rate to the next while none has failed (or, downward, none has met)."""
    resolution: float
    """The bracket's ends differ by this share at most, e.g. 0.05."""
    votes: int
    """Equal outcomes that settle an end of the bracket: 2 is two of three."""
    lowest_per_s: float
    highest_per_s: float
    steps_max: int


@dataclass(frozen=True)
class Tried:
    """One step: a rate, and whether it met the objective."""

    rate_per_s: float
    met: bool


@dataclass(frozen=True)
class Bracket:
    """What a walk has found: the objective is met at `met_per_s` and not at `failed_per_s`."""

    met_per_s: float | None
    """None where no rate met it, down to the lowest."""
    failed_per_s: float | None
    """None where no rate failed, up to the highest."""
    settled: bool
    """Narrow enough, and both ends have the votes."""


def next_rate(tried: Sequence[Tried], start_per_s: float, search: Search) -> float | None:
    """The rate of the next step, per second; None when the walk is over."""
    if len(tried) >= search.steps_max:
        return None
    if not tried:
        return _rounded(min(max(start_per_s, search.lowest_per_s), search.highest_per_s))
    wanted = _wanted(tried, search)
    return None if wanted is None else _rounded(wanted)


def bracket(tried: Sequence[Tried], search: Search) -> Bracket:
    """The highest rate that met the objective below the lowest that did not."""
    met, failed = _ends(tried)
    return Bracket(met, failed, bool(tried) and _wanted(tried, search) is None)


def _wanted(tried: Sequence[Tried], search: Search) -> float | None:
    undecided = [rate for rate in sorted(_balance(tried)) if _balance(tried)[rate] == 0]
    if undecided:
        return undecided[0]
    met, failed = _ends(tried)
    if met is not None and failed is not None and failed / met > 1 + search.resolution:
        return math.sqrt(met * failed)
    if failed is None:
        return _beyond(met, search.factor, search.highest_per_s) or _unsettled(tried, met, search)
    if met is None:
        below = _beyond(failed, 1 / search.factor, search.lowest_per_s)
        return below or _unsettled(tried, failed, search)
    return _unsettled(tried, met, search) or _unsettled(tried, failed, search)


def _ends(tried: Sequence[Tried]) -> tuple[float | None, float | None]:
    balance = _balance(tried)
    failed = min((rate for rate, votes in balance.items() if votes < 0), default=None)
    met = [rate for rate, votes in balance.items() if votes > 0]
    below = [rate for rate in met if failed is None or rate < failed]
    return max(below, default=None), failed


def _balance(tried: Sequence[Tried]) -> dict[float, int]:
    """For each rate: how many more steps met the objective than did not."""
    balance: dict[float, int] = {}
    for each in tried:
        balance[each.rate_per_s] = balance.get(each.rate_per_s, 0) + (1 if each.met else -1)
    return balance


def _beyond(rate: float | None, factor: float, limit: float) -> float | None:
    """The next rate in a direction, the limit itself before it is passed; None once it is tried."""
    if rate is None or rate == _rounded(limit):
        return None
    return min(rate * factor, limit) if factor > 1 else max(rate * factor, limit)


def _unsettled(tried: Sequence[Tried], rate: float | None, search: Search) -> float | None:
    """The rate again, where neither outcome has the votes."""
    outcomes = [each.met for each in tried if each.rate_per_s == rate]
    settled = max(outcomes.count(True), outcomes.count(False)) >= search.votes
    return None if settled else rate


def _rounded(rate: float) -> float:
    return float(f"{rate:.{_SIGNIFICANT_DIGITS}g}")
