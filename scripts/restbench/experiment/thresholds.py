"""How much worse build B may be than build A: the table `[thresholds]` of an experiment file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from restbench.experiment.selection import Strict

AtLeast: TypeAlias = Annotated[float, Field(gt=0, le=1)]
AtMost: TypeAlias = Annotated[float, Field(ge=1)]
Side: TypeAlias = Literal["not less", "not greater"]


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
