"""Open loads, whose requests are sent at the moments of a schedule that is fixed before anything
starts, and the search for the highest rate that meets an objective. Also the tables of experiments
whose loads are not closed ones: [open] and, for a load from several hosts, [engines].

The search of a cell in a block is called a walk. It goes upward by a factor until a rate fails, or
downward until a rate meets the objective; then it bisects until the bracket is as narrow as asked
for. It tries each rate once: the walks of other blocks show whether a step was lucky or unlucky.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
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
    """The load goes on after the window, so that the window's last arrivals meet the same load."""

    @property
    def seconds(self) -> float:
        """The whole schedule's length."""
        return self.warmup_s + self.window_s + self.tail_s

    @property
    def window_ms(self) -> tuple[int, int]:
        """Start and end of the window in ms after the schedule's start; the end is excluded."""
        return round(self.warmup_s * 1000), round((self.warmup_s + self.window_s) * 1000)


def schedule(
    process: ArrivalProcess, rate_per_s: float, phases: Phases, seed: tuple[int, ...]
) -> Offsets:
    """The moments of a schedule in whole milliseconds after its start, sorted; the same seed gives
    the same moments.

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
    # A rounding error must not turn a whole millisecond into the one before.
    return np.floor(np.concatenate(parts) + 1e-6).astype(np.int64)


def as_text(offsets: Offsets) -> str:
    """The schedule as the load generator reads it: a moment in microseconds a line."""
    return "".join(f"{1000 * offset}\n" for offset in offsets.tolist())


_SIGNIFICANT_DIGITS = 4
#: The largest relative error of a ratio of two rates that are rounded to these digits.
_ROUNDING = 1e-3


class Rates(Strict):
    """The limits of a walk, in requests per second, and its steps."""

    factor: Annotated[float, Field(ge=1 + 2 * _ROUNDING)]
    """The factor between two rates, until a rate fails (or, downward, meets the objective)."""
    resolution: Annotated[float, Field(ge=2 * _ROUNDING, lt=1)]
    """A walk is over when the lowest rate that failed exceeds the highest rate that met the
    objective by at most this share."""
    lowest_per_s: Above0
    highest_per_s: Above0


@dataclass(frozen=True)
class Bracket:
    """What a walk has found: the objective is met at `met_per_s` and not at `failed_per_s`."""

    met_per_s: float | None
    """The highest rate that met the objective, below all that failed; None without such a rate."""
    failed_per_s: float | None
    """The lowest rate that failed; None where none did."""

    @property
    def limit_per_s(self) -> float | None:
        """The geometric mean of the two rates; None where one of them is not known."""
        if self.met_per_s is None or self.failed_per_s is None:
            return None
        return math.sqrt(self.met_per_s * self.failed_per_s)

    def is_narrow(self, resolution: float) -> bool:
        """Whether both ends are known and differ by this share at most."""
        if self.met_per_s is None or self.failed_per_s is None:
            return False
        return self.failed_per_s / self.met_per_s <= 1 + resolution + _ROUNDING


def next_rate(tried: Mapping[float, bool], start_per_s: float, rates: Rates) -> float | None:
    """The rate of the next step, per second; None when the walk is over. `tried` has the rates so
    far, each with whether it met the objective."""
    if not tried:
        return _rounded(min(max(start_per_s, rates.lowest_per_s), rates.highest_per_s))
    found = bracket(tried)
    if found.limit_per_s is not None:
        return None if found.is_narrow(rates.resolution) else _rounded(found.limit_per_s)
    if found.met_per_s is not None:
        return _beyond(found.met_per_s, rates.factor, rates.highest_per_s)
    return _beyond(found.failed_per_s or 0.0, 1 / rates.factor, rates.lowest_per_s)


def bracket(tried: Mapping[float, bool]) -> Bracket:
    """The highest rate that met the objective below the lowest that did not."""
    failed = min((rate for rate, met in tried.items() if not met), default=None)
    below = [rate for rate, met in tried.items() if met and (failed is None or rate < failed)]
    return Bracket(max(below, default=None), failed)


def _beyond(rate: float, factor: float, limit: float) -> float | None:
    """The next rate upward (`factor` above 1) or downward, at most as far as the limit; None when
    the limit has been tried."""
    if rate == _rounded(limit):
        return None
    return _rounded(min(rate * factor, limit) if factor > 1 else max(rate * factor, limit))


def _rounded(rate: float) -> float:
    return float(f"{rate:.{_SIGNIFICANT_DIGITS}g}")


#: A window is this much longer than its count of arrivals needs, so that a percentile is not lost
#: to rounding.
WINDOW_STEP_S = 0.1
#: Seconds that JMeter takes to start and to end on the controller of engines.
CONTROL_S = 8.0


class Objective(Strict):
    """A limit of a percentile of the latency of all arrivals, counted from the intended moment."""

    percentile: Literal[50, 90, 95, 99]
    limit_ms: Above0
    unsent_max_share: Annotated[float, Field(ge=0, lt=1)] = 0.001

    def __str__(self) -> str:
        """For reading: `p95 <= 100 ms`."""
        return f"p{self.percentile} <= {self.limit_ms:g} ms"

    def shortfalls(
        self, arrivals: int, unsent: int, errors: int, latency_ms: float | None
    ) -> tuple[str, ...]:
        """Why a step does not meet the objective, in words; empty where it does. `errors` is the
        number of answers in the step's window that were not correct; `latency_ms` is the percentile
        over ALL arrivals: infinite where it falls on an arrival without a correct answer, None
        where there are too few arrivals for it."""
        found = []
        if unsent > self.unsent_max_share * arrivals:
            found.append(f"{unsent} of {arrivals} arrivals were not sent")
        if errors:
            found.append(f"{errors} answers were errors")
        name = f"p{self.percentile}"
        if latency_ms is None:
            found.append(f"{arrivals} arrivals are too few for {name}")
        elif latency_ms > self.limit_ms:
            reached = (
                f"{latency_ms:.0f}" if latency_ms < math.inf else "of requests without an answer"
            )
            found.append(f"{name} {reached} > {self.limit_ms:g} ms")
        return tuple(found)


class Pilot(Strict):
    """The closed load before a cell's first walk; its throughput decides where the walk starts."""

    users: Positive
    """Enough to keep the cores busy, too few to choke a technique."""
    seconds: Above0
    start_share: Above0
    """The first rate of the walk, as a share of the pilot's throughput."""


class Steps(Strict):
    """The durations of a step, in which one rate is offered once."""

    warmup_s: Above0
    """Load at the step's own rate, before its window."""
    window_min_s: Above0
    """A window is longer where the objective's percentile needs more arrivals."""
    window_max_s: Annotated[float, Field(gt=WINDOW_STEP_S)]
    """A walk does not go down to rates for which such a window has too few arrivals."""
    tail_s: Above0
    """The load goes on after the window; late arrivals of the window may still be sent then."""


class OpenLoad(DriverTable):
    """The table [open]: requests at the moments of a schedule. Each block has a walk for each cell,
    to the highest rate that meets the objective."""

    arrivals: ArrivalProcess
    objective: Objective
    pilot: Pilot
    steps: Steps
    rates: Rates

    @model_validator(mode="after")
    def _some_rate_is_possible(self) -> Self:
        if (lowest := self.rates_from().lowest_per_s) > self.rates.highest_per_s:
            raise ValueError(
                f"rates.highest_per_s: needs to be at least {math.ceil(lowest)}: lowest_per_s, or "
                f"the rate that p{self.objective.percentile} needs within steps.window_max_s"
            )
        return self

    def rates_from(self, known_per_s: float | None = None) -> Rates:
        """The limits and steps of a walk. It never goes down to a rate whose longest window is too
        short for the objective's percentile. From a known limit, `known_per_s`, its steps are as
        small as the resolution."""
        needed = COMPLETIONS_NEEDED[self.objective.percentile]
        supported_per_s = needed / (self.steps.window_max_s - WINDOW_STEP_S)
        factor = self.rates.factor if known_per_s is None else 1 + self.rates.resolution
        lowest_per_s = max(self.rates.lowest_per_s, supported_per_s)
        return self.rates.model_copy(update={"factor": factor, "lowest_per_s": lowest_per_s})

    def phases(self, rate_per_s: float) -> Phases:
        """The parts of a step. Its window has the arrivals that the objective's percentile needs,
        unless the longest window is too short for them."""
        steps = self.steps
        needed_s = COMPLETIONS_NEEDED[self.objective.percentile] / rate_per_s
        window_s = max(steps.window_min_s, math.ceil(needed_s / WINDOW_STEP_S + 1) / 10)
        return Phases(steps.warmup_s, min(window_s, steps.window_max_s), steps.tail_s)


class EngineLoad(DriverTable):
    """The table [engines]."""

    hosts: Literal["namespaces", "addresses"]
    """`namespaces`: network namespaces of this machine, which the run makes and removes;
    `addresses`: real machines, on which engines run already."""
    count: Positive = 2
    addresses: list[str] = Field(default_factory=list)
    """The addresses of engines on real machines, each `HOST` or `HOST:PORT`."""
    warmup_s: Above0
    """Load before each window, which is not measured."""
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
        """How long a window takes, with its warm-up and JMeter's start and end."""
        return self.warmup_s + self.window_s + CONTROL_S

    def has_hosts(self) -> bool:
        """Whether the engines run in network namespaces (DriverTable)."""
        return self.hosts == "namespaces"

    def require(self, asked: Demand) -> None:
        """Raises ValueError where engines cannot share a cell's users evenly, or cannot load it."""
        for cell in asked.cells:
            if cell.users % self.number:
                raise ValueError(
                    f"cells: users = {cell.users}: {self.number} engines share them, so give a "
                    f"multiple of {self.number}"
                )
            if cell.front != "none" or cell.complexity in asked.mixes or cell.connection == "each":
                raise ValueError("cells: driver 'engines' has no front, mix or connection 'each'")
