"""What the experiments of other loads than closed ones say beyond their cells: an open load's
arrivals, objective and walk; the engines of a load from several hosts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from restbench.experiment.arrivals import ArrivalProcess, Phases
from restbench.experiment.cell import Cell
from restbench.experiment.selection import Positive, Strict
from restbench.experiment.statistics import COMPLETIONS_NEEDED
from restbench.experiment.walk import Search

#: A window is a tenth of a second longer than its count needs: no percentile fails by rounding.
WINDOW_STEP_S = 0.1
#: Of JMeter's own start on the controller of engines, and its end.
CONTROL_S = 8.0
Above0 = Annotated[float, Field(gt=0)]


class Objective(BaseModel):
    """So much latency, counted from the intended moment, for so many of all arrivals."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    percentile: Literal[50, 90, 95, 99]
    limit_ms: Annotated[float, Field(gt=0)]
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


class EngineLoad(Strict):
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
        return self

    @property
    def number(self) -> int:
        """How many engines share a cell's users."""
        return len(self.addresses) or self.count

    @property
    def seconds(self) -> float:
        """What a window takes, its warm-up and JMeter's start included."""
        return self.warmup_s + self.window_s + CONTROL_S

    def require_users(self, cells: Iterable[Cell], mixes: Mapping[str, object]) -> None:
        """ValueError where engines cannot share a cell's users, or cannot load it."""
        for cell in cells:
            if cell.users % self.number:
                raise ValueError(
                    f"cells: users = {cell.users}: {self.number} engines share them, so give a "
                    f"multiple of {self.number}"
                )
            if cell.front != "none" or cell.complexity in mixes or cell.connection == "each":
                raise ValueError("cells: driver 'engines' has no front, mix or connection 'each'")
