"""Samples that stand for an interval, as sysstat's tools take them, weighted by the window.

Each is stamped with the END of its interval, cut to the whole second, so the true end lies up to a
second later. It is taken as half a second later, and a sample counts with the share of its interval
that lies in the window.
"""

from __future__ import annotations

from collections.abc import Iterable

from restbench.experiment.records import Window

TRUNCATION_MS = 500


def weight_ms(stamp_s: float, interval_s: float, window: Window) -> float:
    """How many milliseconds of a sample's interval lie in the window."""
    end_ms = stamp_s * 1000 + TRUNCATION_MS
    start_ms = end_ms - interval_s * 1000
    return max(0.0, min(end_ms, window.end_ms) - max(start_ms, window.start_ms))


def mean_of(weighted: Iterable[tuple[float, float]]) -> float:
    """The mean of (weight, value) pairs, at least one."""
    pairs = list(weighted)
    return sum(weight * value for weight, value in pairs) / sum(weight for weight, _ in pairs)
