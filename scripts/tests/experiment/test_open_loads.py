"""Open loads: their files, the moments of a schedule, when a step meets its objective, and the walk
to the highest rate that does."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from experiment_file import refused
from scipy import stats

from restbench.experiment.experiment import load
from restbench.experiment.open_load import (
    Bracket,
    Objective,
    OpenLoad,
    Phases,
    Rates,
    as_text,
    bracket,
    next_rate,
    schedule,
)
from restbench.store import store

SHIPPED = store.experiment_file("open-load")
PHASES = Phases(warmup_s=2.0, window_s=10.0, tail_s=1.0)
OBJECTIVE = Objective(percentile=95, limit_ms=100)
RATES = Rates(factor=2, resolution=0.05, lowest_per_s=1, highest_per_s=10_000)


@pytest.fixture(scope="module")
def shipped() -> OpenLoad:
    found = load(SHIPPED).open
    assert found is not None
    return found


def test_a_window_is_as_long_as_the_percentile_needs(shipped: OpenLoad) -> None:
    assert shipped.phases(1000).window_s == shipped.steps.window_min_s
    for rate in (40.0, 55.5, 77.7, 110.0):
        assert round(rate * shipped.phases(rate).window_s) >= 1000


def test_the_walk_goes_to_no_rate_whose_window_cannot_support_the_percentile(
    shipped: OpenLoad,
) -> None:
    lowest = shipped.rates_from().lowest_per_s
    assert round(lowest * shipped.phases(lowest).window_s) >= 1000


def test_from_a_known_limit_the_walk_goes_in_steps_of_its_resolution(shipped: OpenLoad) -> None:
    assert shipped.rates_from().factor == shipped.rates.factor
    assert shipped.rates_from(known_per_s=300.0).factor == 1 + shipped.rates.resolution


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("tail_s = 0.5", "tail = 0.5", "open.steps.tail: unknown key; allowed here are warmup_s"),
        ("percentile = 95", "percentile = 94", "open.objective.percentile"),
        ('arrivals = "poisson"', 'arrivals = "bursts"', "open.arrivals"),
        ("factor = 1.4", "factor = 1.0", "open.rates.factor"),
        # Rates have four digits: a smaller step would offer the same rate again and again.
        ("factor = 1.4", "factor = 1.0001", "open.rates.factor: Input should be greater than"),
        ("resolution = 0.1", "resolution = 1e-5", "open.rates.resolution: Input should be g"),
        ("window_max_s = 60.0", "window_max_s = 0.1", "open.steps.window_max_s: Input should be g"),
        ("window_max_s = 60.0", "window_max_s = 0.2", "highest_per_s: needs to be at least 10000"),
        ("lowest_per_s = 1.0", "lowest_per_s = 9000", "highest_per_s: needs to be at least 9000"),
        ('driver = "open-load"', 'driver = "wrk"', "driver: Input should be 'closed-load', 'open"),
    ],
)
def test_a_wrong_file_is_refused_with_the_key(old: str, new: str, told: str) -> None:
    assert told in refused(SHIPPED.read_text(), old, new)


def test_the_same_seed_gives_the_same_schedule_and_another_seed_another() -> None:
    first = schedule("poisson", 100, PHASES, (1, 7))
    assert first.tolist() == schedule("poisson", 100, PHASES, (1, 7)).tolist()
    assert first.tolist() != schedule("poisson", 100, PHASES, (1, 8)).tolist()


@pytest.mark.parametrize("process", ["poisson", "constant"])
def test_the_window_has_exactly_the_stated_rate(process: str) -> None:
    offsets = schedule(process, 123, PHASES, (1,))  # type: ignore[arg-type]
    first, end = PHASES.window_ms
    assert ((offsets >= first) & (offsets < end)).sum() == 1230
    assert len(offsets) == 1230 + 246 + 123
    assert offsets.max() < PHASES.seconds * 1000
    assert (np.diff(offsets) >= 0).all()


def test_poisson_arrivals_have_exponential_gaps() -> None:
    offsets = schedule("poisson", 2.0, Phases(0, 5000, 0), (3,))
    gaps_s = np.diff(offsets) / 1000
    assert stats.kstest(gaps_s, "expon", args=(0, 0.5)).pvalue > 0.01


def test_constant_arrivals_are_evenly_spaced() -> None:
    assert set(np.diff(schedule("constant", 50, PHASES, (1,)))) == {20}


def test_the_load_generator_is_told_microseconds_a_line() -> None:
    assert as_text(np.array([0, 17])) == "0\n17000\n"


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
        ({"latency_ms": None}, "2000 arrivals are too few for p95"),
        ({"unsent": 3}, "3 of 2000 arrivals were not sent"),
        ({"errors": 1}, "1 answers were errors"),
    ],
)
def test_a_step_that_falls_short_says_why(changed: dict[str, object], reason: str) -> None:
    assert shortfalls(**changed) == (reason,)


def walk(meets: Callable[[float], bool], start: float, rates: Rates = RATES) -> dict[float, bool]:
    tried: dict[float, bool] = {}
    while (rate := next_rate(tried, start, rates)) is not None:
        assert rate not in tried, "each rate is tried once"
        tried[rate] = meets(rate)
    return tried


@pytest.mark.parametrize("capacity", [3.3, 100.0, 437.0, 9000.0])
@pytest.mark.parametrize("start", [2.0, 50.0, 5000.0])
def test_the_bracket_holds_the_capacity_wherever_the_walk_starts(
    capacity: float, start: float
) -> None:
    found = bracket(walk(lambda rate: rate <= capacity, start))
    assert found.is_narrow(RATES.resolution)
    assert found.met_per_s is not None
    assert found.failed_per_s is not None
    assert found.limit_per_s is not None
    assert found.met_per_s <= capacity < found.failed_per_s <= 1.0511 * found.met_per_s
    assert found.met_per_s < found.limit_per_s < found.failed_per_s


def test_goes_up_by_the_factor_and_then_halves_the_bracket() -> None:
    assert [*walk(lambda rate: rate <= 300, 100)][:4] == [100, 200, 400, 282.8]


@pytest.mark.parametrize(("start", "steps"), [(290, 2), (310, 2), (320, 3)])
def test_from_a_known_limit_two_or_three_steps_of_the_resolution_are_enough(
    start: float, steps: int
) -> None:
    small = Rates(factor=1.05, resolution=0.05, lowest_per_s=1, highest_per_s=10_000)
    assert len(walk(lambda rate: rate <= 300, start, small)) == steps


def test_a_failure_below_a_success_counts() -> None:
    assert bracket({100: True, 200: False, 400: True}) == Bracket(100, 200)


def test_where_nothing_meets_the_walk_ends_at_the_lowest_rate() -> None:
    tried = walk(lambda _rate: False, 8)
    assert [*tried][-1] == 1
    assert bracket(tried) == Bracket(None, 1)
    assert bracket(tried).limit_per_s is None
    assert not bracket(tried).is_narrow(RATES.resolution)


def test_where_everything_meets_the_walk_ends_at_the_highest_rate() -> None:
    tried = walk(lambda _rate: True, 3000)
    assert [*tried][-1] == 10_000
    assert bracket(tried) == Bracket(10_000, None)


def test_a_walk_over_a_service_without_a_clear_limit_ends_all_the_same() -> None:
    dice = random.Random(1)
    for _ in range(50):
        assert len(walk(lambda rate: dice.random() < 300 / (300 + rate), 100)) < 40
