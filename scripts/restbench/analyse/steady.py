"""Is warm-up over when the window opens? MSER-1 on counts of correct completions (method, rule 3).

Bins are one second wide, as the rule says, where the load is long enough for 40 of them; of a
shorter load they are a fortieth of it, or as wide as leaves 5 completions a bin on average. Under
30 bins, or 2 completions a bin, nothing is judged: with 10 bins MSER calls a tenth of all loads
without any warm-up unsteady, with 20 bins 3 %.

MSER finds a slow start, and only that: a level that lasts beyond half of the load it calls steady,
and where a bin holds 20 completions it finds one in forty of those that a fifth is missing from. So
a second look is taken at the window itself: its two halves must not differ by more than 5 %, the
margin of every verdict, if they differ beyond chance (Student's t, corrected for what neighbouring
bins have in common, p < 0.01).

Simulated with the code below (`test_steady`): 1 000 loads of 60 bins, a third of them planned
warm-up, Poisson counts of 20 or 500 a bin; percent of the loads that were flagged:

| completions a bin: 20 / 500           | not-steady | warm-up-late | drift       |
|---------------------------------------|------------|--------------|-------------|
| no warm-up                            | 0.1 / 0.0  | 0.9 / 0.6    | 1.4 / 0.0   |
| no warm-up, lag-1 correlation 0.6     | 0.3 / 0.4  | 3.9 / 3.7    | 4.8 / 2.6   |
| half speed for 42 % of the load       | 2.8 / 3.6  | 82.3 / 96.4  | 2.3 / 0.0   |
| a fifth slower for 42 % of the load   | 0.2 / 3.3  | 2.3 / 96.7   | 1.7 / 0.1   |
| a fifth slower for 60 % of the load   | 0.0 / 0.2  | 0.2 / 0.0    | 29.9 / 90.9 |
| faster all along, from half to full   | 0.3 / 45.6 | 2.6 / 52.1   | 33.8 / 98.3 |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from restbench.experiment.statistics import lag1_autocorrelation, mser, t_tail

MOST_BIN_MS = 1_000
#: A load shorter than this many seconds has bins of that fraction of it.
BINS_OF_A_SHORT_LOAD = 40
FEWEST_BINS = 30
COMPLETIONS_A_BIN = 5
FEWEST_COMPLETIONS_A_BIN = 2
#: A window's halves that differ by less are as steady as any verdict needs (method, rule 7).
DRIFT_MARGIN = 0.05
DRIFT_P = 0.01
FEWEST_BINS_OF_A_HALF = 5
MOST_CORRELATION = 0.8


@dataclass(frozen=True)
class Course:
    """Correct completions per bin, in order of time. The last bin ends where the window ends; what
    does not fill a bin is left out at the front, where warm-up is."""

    counts: npt.NDArray[np.int64]
    bin_ms: int
    first_ms: int
    """Where the first bin starts, milliseconds since the epoch."""

    @property
    def end_ms(self) -> int:
        """Where the last bin ends: the window's end."""
        return self.first_ms + self.bin_ms * self.counts.size

    def within(self, start_ms: int) -> npt.NDArray[np.int64]:
        """The counts of the bins that lie in the window as a whole."""
        outside = -(-(start_ms - self.first_ms) // self.bin_ms)
        return self.counts[max(0, outside) :]


@dataclass(frozen=True)
class Steadiness:
    """What a load's course says of its warm-up; all None where there is too little to judge."""

    steady: bool | None
    """False where MSER's cut lies at its limit, half the load: the end of warm-up is unknown."""
    cut_ms: int | None
    """Where MSER ends warm-up, milliseconds since the epoch."""
    warm_up_late: bool | None
    """Whether that is inside the window, by a whole bin or more."""
    drift: float | None
    """Throughput of the window's second half over that of its first, minus 1."""
    drifts: bool | None
    """Whether that is real and more than 5 %."""

    @property
    def flags(self) -> tuple[str, ...]:
        """The audit's flags for it."""
        if self.steady is None:
            return ("steadiness-unknown",)
        raised = {
            "not-steady": not self.steady,
            "warm-up-late": self.steady and self.warm_up_late,
            "drift": self.drifts,
        }
        return tuple(flag for flag, is_raised in raised.items() if is_raised)


UNKNOWN = Steadiness(None, None, None, None, None)


def step_ms(load_ms: int) -> int:
    """How finely ends must be counted for the course of a load that is at least so long: bins of a
    long one are as wide as they may be, and end with the window."""
    return MOST_BIN_MS if load_ms >= BINS_OF_A_SHORT_LOAD * MOST_BIN_MS else 1


def course(
    ends_ms: npt.NDArray[np.int64],
    started_ms: int,
    end_ms: int,
    counts: npt.NDArray[np.int64] | None = None,
) -> Course:
    """The correct completions between the first request and the window's end, in bins. `counts`
    says how many ended at each of the moments (or in the step that begins there, `step_ms`); one,
    unless told otherwise."""
    each = np.ones_like(ends_ms) if counts is None else counts
    bin_ms = _bin_ms(end_ms - started_ms, int(each[ends_ms < end_ms].sum()))
    bins = max(1, (end_ms - started_ms) // bin_ms)
    first_ms = end_ms - bins * bin_ms
    places = (ends_ms - first_ms) // bin_ms
    inside = (places >= 0) & (places < bins)
    found = np.bincount(places[inside], each[inside], minlength=bins).astype(np.int64)
    return Course(found, bin_ms, first_ms)


def judge(found: Course, window_start_ms: int) -> Steadiness:
    """MSER-1 on the counts of the whole load; the window's halves against each other."""
    if found.counts.size < FEWEST_BINS or found.counts.mean() < FEWEST_COMPLETIONS_A_BIN:
        return UNKNOWN
    cut = mser(found.counts)
    cut_ms = found.first_ms + cut.cut * found.bin_ms
    late = cut_ms >= window_start_ms + found.bin_ms
    drift, drifts = _drift(found.within(window_start_ms))
    return Steadiness(cut.steady, cut_ms, late, drift, drifts)


def _drift(counts: npt.NDArray[np.int64]) -> tuple[float | None, bool | None]:
    half = counts.size // 2
    if half < FEWEST_BINS_OF_A_HALF or not counts[-2 * half : -half].any():
        return None, None
    halves = counts[-2 * half :].reshape(2, half)
    first, second = halves.mean(axis=1)
    drift = float(second / first - 1)
    residuals = (halves - halves.mean(axis=1, keepdims=True)).ravel()
    # Neighbouring bins are not independent: a mean of correlated values varies as one of fewer.
    together = min(MOST_CORRELATION, max(0.0, lag1_autocorrelation(residuals)))
    effective = half * (1 - together) / (1 + together)
    error = float(np.sqrt(halves.var(axis=1, ddof=1).sum() / effective))
    chance = 2 * t_tail(abs(second - first) / error, 2 * effective - 2) if error else 0.0
    return drift, abs(drift) > DRIFT_MARGIN and chance < DRIFT_P


def _bin_ms(load_ms: int, completions: int) -> int:
    enough_ms = COMPLETIONS_A_BIN * load_ms / completions if completions else MOST_BIN_MS
    wanted_ms = max(load_ms / BINS_OF_A_SHORT_LOAD, enough_ms, 1)
    return int(min(MOST_BIN_MS, wanted_ms))
