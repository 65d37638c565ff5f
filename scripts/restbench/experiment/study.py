"""What an experiment file says about that with which results are compared: published studies, and
another build (the table `[thresholds]`: how much worse build B may be than build A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from restbench.experiment.selection import Above0, Many, Positive, Strict, Where

AtLeast: TypeAlias = Annotated[float, Field(gt=0, le=1)]
AtMost: TypeAlias = Annotated[float, Field(ge=1)]
Side: TypeAlias = Literal["not less", "not greater"]


class TestId(Strict):
    """A row of the study's test matrix: its id and the cells that it names."""

    id: str
    where: Where


class Figure(Strict):
    """One figure of the study, as data: what is on its axes and which cells it shows."""

    number: Positive
    title: str
    caption: str
    x: Literal["users", "rows"]
    metrics: Annotated[list[Literal["throughput_per_s", "mean_ms"]], Many]
    series: Literal["strategy", "users", "placement"]
    panels: Literal["users"] | None = None
    best_of: Literal["strategy"] | None = None
    """Show only the strategy with the highest throughput (geometric mean over its cells)."""
    where: Where


class PublishedWorkers(Strict):
    """A published table of the mean time per request over all concurrent requests, which is 1 over
    throughput."""

    source: str
    cores: Positive
    """The hardware threads of the study's machine."""
    clients: list[Positive]
    mean_ms: dict[Positive, list[Above0]]
    """By number of workers: one value for each number of clients."""
    shows: list[str] = Field(default_factory=list)
    """What follows from the table alone, a sentence each."""
    faults: list[str] = Field(default_factory=list)
    """What is unclear or wrong in the table, a sentence each."""

    @model_validator(mode="after")
    def _is_a_table(self) -> Self:
        for workers, values in self.mean_ms.items():
            if len(values) != len(self.clients):
                raise ValueError(f"mean_ms.{workers}: needs a value for each of the clients")
        if missing := {2 * self.cores, 2 * self.cores + 1} - {*self.mean_ms}:
            raise ValueError(
                f"mean_ms: needs a row of {min(missing)} workers (2·cores, and 1 more)"
            )
        return self

    def over_best(self, workers: int, clients: int) -> float:
        """The throughput over the best throughput with the same number of clients."""
        at = self.clients.index(clients)
        return min(values[at] for values in self.mean_ms.values()) / self.mean_ms[workers][at]


@dataclass(frozen=True)
class Limit:
    """One threshold: on the ratio of B to A of a metric."""

    metric: str
    expect: Side
    ratio: float

    @property
    def margin(self) -> float:
        """The margin of a comparison: how far the ratio may be from 1, as a share of the smaller
        side."""
        return (self.ratio if self.expect == "not greater" else 1 / self.ratio) - 1

    def __str__(self) -> str:
        """For people: `at least 0.95`."""
        return f"{'at most' if self.expect == 'not greater' else 'at least'} {self.ratio:g}"


class Thresholds(Strict):
    """Ratios of B to A, cell by cell; a metric without a threshold is not judged."""

    throughput_ratio_min: AtLeast | None = None
    cpu_ratio_max: AtMost | None = None
    """The largest ratio of the CPU time per request."""
    memory_ratio_max: AtMost | None = None

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if not self.limits:
            raise ValueError(f"needs one or more of {', '.join(type(self).model_fields)}")
        return self

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The thresholds that are set, in the order of the table."""
        known: list[tuple[str, Side, float | None]] = [
            ("throughput_per_s", "not less", self.throughput_ratio_min),
            ("cpu_ms_per_request", "not greater", self.cpu_ratio_max),
            ("memory_mib", "not greater", self.memory_ratio_max),
        ]
        return tuple(
            Limit(metric, side, ratio) for metric, side, ratio in known if ratio is not None
        )
