"""When the requests of an open load are to be sent: a schedule, fixed before anything starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

ArrivalProcess = Literal["poisson", "constant"]
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Phases:
    """The parts of a schedule, in seconds: only the window's arrivals are measured."""

    warmup_s: float
    window_s: float
    tail_s: float
    """The load goes on after the window, so that its last arrivals meet what the others met."""

    @property
    def seconds(self) -> float:
        """The whole schedule's length."""
        return self.warmup_s + self.window_s + self.tail_s

    @property
    def window_ms(self) -> tuple[int, int]:
        """First and end of the window, milliseconds after the schedule's start; half open."""
        return round(self.warmup_s * 1000), round((self.warmup_s + self.window_s) * 1000)


def schedule(
    process: ArrivalProcess, rate_per_s: float, phases: Phases, seed: tuple[int, ...]
) -> Offsets:
    """Moments in whole milliseconds after the start, in order; the same seed gives the same ones.

    Each phase gets round(rate x seconds) arrivals. `poisson`: uniform over the phase, which is a
    Poisson process given its number of arrivals, so that the offered rate is the stated one.
    `constant`: evenly spaced.
    """
    generator = np.random.default_rng(seed)
    start_s, parts = 0.0, []
    for seconds in (phases.warmup_s, phases.window_s, phases.tail_s):
        count = round(rate_per_s * seconds)
        shares = (
            np.sort(generator.random(count)) if process == "poisson" else np.arange(count) / count
        )
        parts.append((start_s + shares * seconds) * 1000)
        start_s += seconds
    # A moment that is a whole millisecond must not fall short of it by rounding.
    return np.floor(np.concatenate(parts) + 1e-6).astype(np.int64)


def as_text(offsets: Offsets) -> str:
    """The schedule as the load generator reads it: a moment in microseconds a line."""
    return "".join(f"{1000 * offset}\n" for offset in offsets.tolist())
