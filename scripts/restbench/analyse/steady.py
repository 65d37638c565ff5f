"""Is warm-up over when a long window opens? MSER-1 on counts of completions (method, rule 3).

Bins are one second wide, as the rule says, where the load is long enough for 40 of them; of a
shorter load they are a fortieth of it, or as wide as leaves 5 completions a bin on average. Under
30 bins, or 2 completions a bin, nothing is judged: with 10 bins MSER calls a tenth of all loads
without any warm-up unsteady, with 20 bins 3 %.

MSER is for long windows (method, rule 3): of a window under 10 s nothing is said. It looks at twice
the window at most, as of a start-up that is longer than that its limit, half of what it looks at,
would lie before the window, and every load would be called unsteady however clean the window is.
What is not steady is a note; noise within a window is what its interval over blocks holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from restbench.experiment.statistics import mser

MOST_BIN_MS = 1_000
#: A load shorter than this many seconds has bins of that fraction of it.
BINS_OF_A_SHORT_LOAD = 40
FEWEST_BINS = 30
COMPLETIONS_A_BIN = 5
FEWEST_COMPLETIONS_A_BIN = 2
LONG_MS = 10_000


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


@dataclass(frozen=True)
class Steadiness:
    """What a load's course says of its warm-up; both None where there is too little to judge."""

    steady: bool | None = None
    """False where MSER's cut lies at its limit, half of what it looks at."""
    cut_ms: int | None = None
    """Where MSER ends warm-up, milliseconds since the epoch."""


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
    """MSER-1 on the counts of the window and as long a time before it."""
    window_ms = found.end_ms - window_start_ms
    counts = found.counts[-max(1, 2 * window_ms // found.bin_ms) :]
    few = counts.size < FEWEST_BINS or counts.mean() < FEWEST_COMPLETIONS_A_BIN
    if window_ms < LONG_MS or few:
        return Steadiness()
    cut = mser(counts)
    first = found.counts.size - counts.size + cut.cut
    return Steadiness(cut.steady, found.first_ms + first * found.bin_ms)


def _bin_ms(load_ms: int, completions: int) -> int:
    enough_ms = COMPLETIONS_A_BIN * load_ms / completions if completions else MOST_BIN_MS
    wanted_ms = max(load_ms / BINS_OF_A_SHORT_LOAD, enough_ms, 1)
    return int(min(MOST_BIN_MS, wanted_ms))
