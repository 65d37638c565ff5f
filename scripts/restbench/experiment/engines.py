"""What an experiment says of JMeter's remote engines: where they run, and how long a window is."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from restbench.experiment.selection import Positive, Strict

#: Of JMeter's own start on the controller, and its end.
CONTROL_S = 8.0
Above0 = Annotated[float, Field(gt=0)]


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
