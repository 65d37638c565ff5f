"""When a step of an open load meets its objective."""

from __future__ import annotations

import math
from typing import Any

import pytest

from restbench.experiment.open_load import Objective

OBJECTIVE = Objective(percentile=95, limit_ms=100)


def shortfalls(**changed: Any) -> tuple[str, ...]:
    whole: dict[str, Any] = {"arrivals": 2000, "unsent": 0, "errors": 0, "latency_ms": 100.0}
    return OBJECTIVE.shortfalls(**{**whole, **changed})


def test_a_step_at_the_limit_meets_the_objective() -> None:
    assert shortfalls() == ()
    assert shortfalls(unsent=2) == ()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"latency_ms": 101.0}, "p95 101 > 100 ms"),
        ({"latency_ms": math.inf}, "p95 of requests without an answer > 100 ms"),
        ({"latency_ms": None}, "2000 arrivals do not support p95"),
        ({"unsent": 3}, "3 of 2000 arrivals were not sent"),
        ({"errors": 1}, "1 answers were errors"),
    ],
)
def test_a_step_that_falls_short_says_why(changed: dict[str, object], reason: str) -> None:
    assert shortfalls(**changed) == (reason,)
