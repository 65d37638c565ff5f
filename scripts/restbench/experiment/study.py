"""What an experiment file says about the published studies with which results are compared."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from restbench.experiment.selection import Above0, Many, Positive, Strict, Where


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
