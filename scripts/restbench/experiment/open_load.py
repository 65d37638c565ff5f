"""What an open load's experiment says beyond its cells: arrivals, objective, and the walk."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from restbench.experiment.arrivals import ArrivalProcess, Phases
from restbench.experiment.objective import Objective
from restbench.experiment.selection import Positive, Strict
from restbench.experiment.statistics import COMPLETIONS_NEEDED
from restbench.experiment.walk import Search

#: A window is a tenth of a second longer than its count needs: no percentile fails by rounding.
WINDOW_STEP_S = 0.1
Above0 = Annotated[float, Field(gt=0)]


class Pilot(Strict):
    """The closed load before a cell's first walk, whose throughput says where that starts."""

    users: Positive
    """Enough to keep the cores busy, too few to choke a technique."""
    seconds: Above0
    start_share: Above0
    """The first rate, as a share of that throughput."""


class Steps(Strict):
    """How long a step takes: one rate, offered once."""

    warmup_s: Above0
    """At its own rate, before its window."""
    window_min_s: Above0
    """A window is longer where the objective's percentile needs more arrivals."""
    window_max_s: Above0
    """The walk does not go down to a rate for which this is too short."""
    tail_s: Above0
    """The load goes on after the window; an arrival of the window may still be sent so late."""


class Rates(Strict):
    """Where the walk may go, requests per second."""

    factor: Annotated[float, Field(gt=1)]
    """From one rate to the next, as long as none has failed."""
    resolution: Annotated[float, Field(gt=0, lt=1)]
    """The highest rate that met the objective and the lowest that did not differ by this share at
    most, when a walk is over."""
    lowest_per_s: Above0
    highest_per_s: Above0


class OpenLoad(Strict):
    """Requests at the moments of a schedule; each block walks to the highest rate of each cell."""

    arrivals: ArrivalProcess
    objective: Objective
    pilot: Pilot
    steps: Steps
    rates: Rates

    def search(self, known_per_s: float | None = None) -> Search:
        """How a walk goes: never to a rate whose longest window is too short for the objective's
        percentile. From a limit that is `known_per_s` it goes in small steps."""
        needed = COMPLETIONS_NEEDED[self.objective.percentile]
        supported_per_s = needed / (self.steps.window_max_s - WINDOW_STEP_S)
        rates = self.rates
        return Search(
            factor=rates.factor if known_per_s is None else 1 + rates.resolution,
            resolution=rates.resolution,
            lowest_per_s=max(rates.lowest_per_s, supported_per_s),
            highest_per_s=rates.highest_per_s,
        )

    def phases(self, rate_per_s: float) -> Phases:
        """The parts of a step: the window holds what the objective's percentile needs."""
        steps = self.steps
        needed_s = COMPLETIONS_NEEDED[self.objective.percentile] / rate_per_s
        window_s = max(steps.window_min_s, math.ceil(needed_s / WINDOW_STEP_S + 1) / 10)
        return Phases(steps.warmup_s, min(window_s, steps.window_max_s), steps.tail_s)
