"""Open loads, whose requests are sent at the moments of a schedule that is fixed before anything
starts, and the search for the highest rate that meets an objective; the tables of experiments of
other loads than closed ones: [open] and, for a load from several hosts, [engines].

The search: upward by a factor until a rate fails, or downward until one meets the objective; then
bisection until the bracket is as narrow as asked for. Each rate is tried once: that a step was
lucky or unlucky shows in the other blocks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from restbench.experiment.drivers import Demand, DriverTable
from restbench.experiment.selection import Above0, Positive, Strict
from restbench.experiment.statistics import COMPLETIONS_NEEDED

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


_SIGNIFICANT_DIGITS = 4
#: What rounding to these digits does to a ratio of two rates.
_ROUNDING = 1e-3


class Rates(Strict):
    """Where the walk may go, requests per second."""

    factor: Annotated[float, Field(gt=1)]
    """From one rate to the next, while none has failed (or, downward, none has met)."""
    resolution: Annotated[float, Field(gt=0, lt=1)]
    """The highest rate that met the objective and the lowest that did not differ by this share at
    most, when a walk is over."""
    lowest_per_s: Above0
    highest_per_s: Above0


@dataclass(frozen=True)
class SearchStep:
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


def next_rate(tried: Sequence[SearchStep], start_per_s: float, rates: Rates) -> float | None:
    """The rate of the next step, per second; None when the walk is over."""
    if not tried:
        return _rounded(min(max(start_per_s, rates.lowest_per_s), rates.highest_per_s))
    found = bracket(tried)
    if found.limit_per_s is not None:
        return None if found.is_narrow(rates.resolution) else _rounded(found.limit_per_s)
    if found.met_per_s is not None:
        return _beyond(found.met_per_s, rates.factor, rates.highest_per_s)
    return _beyond(found.failed_per_s or 0.0, 1 / rates.factor, rates.lowest_per_s)


def bracket(tried: Sequence[SearchStep]) -> Bracket:
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


#: A window is a tenth of a second longer than its count needs: no percentile fails by rounding.
WINDOW_STEP_S = 0.1
#: Of JMeter's own start on the controller of engines, and its end.
CONTROL_S = 8.0


class Objective(Strict):
    """So much latency, counted from the intended moment, for so many of all arrivals."""

    percentile: Literal[50, 90, 95, 99]
    limit_ms: Above0
    unsent_max_share: Annotated[float, Field(ge=0, lt=1)] = 0.001

    def __str__(self) -> str:
        """For reading: `p95 <= 100 ms`."""
        return f"p{self.percentile} <= {self.limit_ms:g} ms"

    def shortfalls(
        self, arrivals: int, unsent: int, errors: int, latency_ms: float | None
    ) -> tuple[str, ...]:
        """Why a step does not meet it, in words; empty where it does. `errors` are answers of its
        window that were not correct; `latency_ms` is the percentile over ALL arrivals: infinite
        where it falls on one without a correct answer, None where they are too few for it."""
        found = []
        if unsent > self.unsent_max_share * arrivals:
            found.append(f"{unsent} of {arrivals} arrivals were not sent")
        if errors:
            found.append(f"{errors} answers were errors")
        name = f"p{self.percentile}"
        if latency_ms is None:
            found.append(f"{arrivals} arrivals do not support {name}")
        elif latency_ms > self.limit_ms:
            reached = (
                f"{latency_ms:.0f}" if latency_ms < math.inf else "of requests without an answer"
            )
            found.append(f"{name} {reached} > {self.limit_ms:g} ms")
        return tuple(found)


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


class OpenLoad(DriverTable):
    """Requests at the moments of a schedule; each block walks to the highest rate of each cell."""

    arrivals: ArrivalProcess
    objective: Objective
    pilot: Pilot
    steps: Steps
    rates: Rates

    def rates_from(self, known_per_s: float | None = None) -> Rates:
        """Of a walk: never down to one whose longest window is too short for the objective's
        percentile. From a limit that is `known_per_s` it goes in small steps."""
        needed = COMPLETIONS_NEEDED[self.objective.percentile]
        supported_per_s = needed / (self.steps.window_max_s - WINDOW_STEP_S)
        factor = self.rates.factor if known_per_s is None else 1 + self.rates.resolution
        lowest_per_s = max(self.rates.lowest_per_s, supported_per_s)
        return self.rates.model_copy(update={"factor": factor, "lowest_per_s": lowest_per_s})

    def phases(self, rate_per_s: float) -> Phases:
        """The parts of a step: the window holds what the objective's percentile needs."""
        steps = self.steps
        needed_s = COMPLETIONS_NEEDED[self.objective.percentile] / rate_per_s
        window_s = max(steps.window_min_s, math.ceil(needed_s / WINDOW_STEP_S + 1) / 10)
        return Phases(steps.warmup_s, min(window_s, steps.window_max_s), steps.tail_s)


class EngineLoad(DriverTable):
    """The table [engines]."""

    hosts: Literal["namespaces", "addresses"]
    """Network namespaces of this machine, made and removed by the run; or real machines, on which
    engines run already."""
    count: Positive = 2
    """Of engines, in namespaces."""
    addresses: list[str] = Field(default_factory=list)
    """Of engines on real machines, each `HOST` or `HOST:PORT`."""
    warmup_s: Above0
    """Of each window, before it is measured."""
    window_s: Above0

    @model_validator(mode="after")
    def _are_somewhere(self) -> Self:
        if (self.hosts == "addresses") != bool(self.addresses):
            raise ValueError("addresses: hosts = 'addresses' needs them, and nothing else has any")
        for each in self.addresses:
            port = re.fullmatch(r"[^\s:,]+(?::([0-9]{1,5}))?", each)
            if not port or int(port[1] or 1) not in range(1, 65536):
                raise ValueError(f"addresses: '{each}' is not HOST or HOST:PORT")
        return self

    @property
    def number(self) -> int:
        """How many engines share a cell's users."""
        return len(self.addresses) or self.count

    @property
    def seconds(self) -> float:
        """What a window takes, its warm-up and JMeter's start included."""
        return self.warmup_s + self.window_s + CONTROL_S

    def has_hosts(self) -> bool:
        """Network namespaces (DriverTable)."""
        return self.hosts == "namespaces"

    def require(self, asked: Demand) -> None:
        """ValueError where engines cannot share a cell's users, or cannot load it."""
        for cell in asked.cells:
            if cell.users % self.number:
                raise ValueError(
                    f"cells: users = {cell.users}: {self.number} engines share them, so give a "
                    f"multiple of {self.number}"
                )
            if cell.front != "none" or cell.complexity in asked.mixes or cell.connection == "each":
                raise ValueError("cells: driver 'engines' has no front, mix or connection 'each'")
