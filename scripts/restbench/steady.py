"""Is warm-up over when the window opens? MSER-1 on counts of correct completions (method, rule 3).

Bins are one second wide, as the rule says, where the load is long enough for 40 of them; of a
shorter load they are a fortieth of it, or as wide as leaves 5 completions a bin on average. Under
30 bins, or 2 completions a bin, nothing is judged: with 10 bins MSER calls a tenth of all loads
without any warm-up unsteady, with 20 bins 3 %.

What the rule does, simulated (`test_steady`, 4 000 loads each, Poisson counts of any mean from 2 a
bin on; the first third of the load is the planned warm-up, as in the shortest profiles):

| bins | no warm-up: "not steady" | no warm-up: cut in the window | warm-up over half of the load |
|------|--------------------------|-------------------------------|-------------------------------|
| 30   | 0.9 %                    | 4 %                           | see DETECTED                  |
| 40   | 0.4 %                    | 2.5 %                         |                               |
| 100  | under 0.1 %              | 0.1 %                         |                               |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from restbench.statistics import mser

MOST_BIN_MS = 1_000
#: A load shorter than this many seconds has bins of that fraction of it.
BINS_OF_A_SHORT_LOAD = 40
FEWEST_BINS = 30
COMPLETIONS_A_BIN = 5
FEWEST_COMPLETIONS_A_BIN = 2


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
    """What MSER says of a load."""

    steady: bool | None
    """False where the cut lies at the limit, half the load: the end of warm-up is unknown. None
    where there are too few bins or completions to judge."""
    cut_ms: int | None
    """Where warm-up ends, milliseconds since the epoch."""


UNKNOWN = Steadiness(None, None)


def course(ends_ms: npt.NDArray[np.int64], started_ms: int, end_ms: int) -> Course:
    """The correct completions between the first request and the window's end, in bins."""
    bin_ms = _bin_ms(end_ms - started_ms, int((ends_ms < end_ms).sum()))
    bins = max(1, (end_ms - started_ms) // bin_ms)
    first_ms = end_ms - bins * bin_ms
    places = (ends_ms - first_ms) // bin_ms
    inside = places[(places >= 0) & (places < bins)]
    return Course(np.bincount(inside, minlength=bins), bin_ms, first_ms)


def judge(found: Course) -> Steadiness:
    """MSER-1 on the bins' counts."""
    if found.counts.size < FEWEST_BINS or found.counts.mean() < FEWEST_COMPLETIONS_A_BIN:
        return UNKNOWN
    cut = mser(found.counts)
    return Steadiness(cut.steady, found.first_ms + cut.cut * found.bin_ms)


def _bin_ms(load_ms: int, completions: int) -> int:
    enough_ms = COMPLETIONS_A_BIN * load_ms / completions if completions else MOST_BIN_MS
    wanted_ms = max(load_ms / BINS_OF_A_SHORT_LOAD, enough_ms, 1)
    return int(min(MOST_BIN_MS, wanted_ms))
