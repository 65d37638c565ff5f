"""Does a step of an open load meet its latency objective? A pure decision, with its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Objective(BaseModel):
    """So much latency, counted from the intended moment, for so many of all arrivals."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    percentile: Literal[50, 90, 95, 99]
    limit_ms: Annotated[float, Field(gt=0)]
    unsent_max_share: Annotated[float, Field(ge=0, lt=1)] = 0.001

    def __str__(self) -> str:
        """For reading: `p95 <= 100 ms`."""
        return f"p{self.percentile} <= {self.limit_ms:g} ms"


@dataclass(frozen=True)
class Outcome:
    """What came of the arrivals of a step's window."""

    arrivals: int
    unsent: int
    errors: int
    """Answers that were not correct, of the window."""
    latency_ms: float | None
    """The objective's percentile over ALL arrivals; infinite where it falls on one without a
    correct answer, None where the count does not support it."""


def shortfalls(outcome: Outcome, objective: Objective) -> tuple[str, ...]:
    """Why the objective is not met, in words; empty when it is."""
    found = []
    if outcome.unsent > objective.unsent_max_share * outcome.arrivals:
        found.append(f"{outcome.unsent} of {outcome.arrivals} arrivals were not sent")
    if outcome.errors:
        found.append(f"{outcome.errors} answers were errors")
    name = f"p{objective.percentile}"
    if outcome.latency_ms is None:
        found.append(f"{outcome.arrivals} arrivals do not support {name}")
    elif outcome.latency_ms > objective.limit_ms:
        found.append(f"{name} {_shown(outcome.latency_ms)} > {objective.limit_ms:g} ms")
    return tuple(found)


def _shown(latency_ms: float) -> str:
    return f"{latency_ms:.0f}" if latency_ms < float("inf") else "of requests without an answer"
