"""The search for the highest rate that meets an objective."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from restbench.experiment.open_load import Bracket, Search, Tried, bracket, next_rate

SEARCH = Search(factor=2, resolution=0.05, lowest_per_s=1, highest_per_s=10_000)


def walk(meets: Callable[[float], bool], start: float, search: Search = SEARCH) -> list[Tried]:
    tried: list[Tried] = []
    while (rate := next_rate(tried, start, search)) is not None:
        tried.append(Tried(rate, meets(rate)))
    return tried


@pytest.mark.parametrize("capacity", [3.3, 100.0, 437.0, 9000.0])
@pytest.mark.parametrize("start", [2.0, 50.0, 5000.0])
def test_the_bracket_holds_the_capacity_wherever_the_walk_starts(
    capacity: float, start: float
) -> None:
    found = bracket(walk(lambda rate: rate <= capacity, start))
    assert found.is_narrow(SEARCH.resolution)
    assert found.met_per_s is not None
    assert found.failed_per_s is not None
    assert found.limit_per_s is not None
    assert found.met_per_s <= capacity < found.failed_per_s <= 1.0511 * found.met_per_s
    assert found.met_per_s < found.limit_per_s < found.failed_per_s


def test_goes_up_by_the_factor_and_then_halves_the_bracket() -> None:
    rates = [each.rate_per_s for each in walk(lambda rate: rate <= 300, 100)]
    assert rates[:4] == [100, 200, 400, 282.8]


@pytest.mark.parametrize(("start", "steps"), [(290, 2), (310, 2), (320, 3)])
def test_from_a_known_limit_two_or_three_steps_of_the_resolution_are_enough(
    start: float, steps: int
) -> None:
    small = Search(factor=1.05, resolution=0.05, lowest_per_s=1, highest_per_s=10_000)
    assert len(walk(lambda rate: rate <= 300, start, small)) == steps


def test_a_failure_below_a_success_counts() -> None:
    tried = [Tried(100, True), Tried(200, False), Tried(400, True)]
    assert bracket(tried) == Bracket(100, 200)


def test_where_nothing_meets_the_walk_ends_at_the_lowest_rate() -> None:
    tried = walk(lambda _rate: False, 8)
    assert tried[-1].rate_per_s == 1
    assert bracket(tried) == Bracket(None, 1)
    assert bracket(tried).limit_per_s is None
    assert not bracket(tried).is_narrow(SEARCH.resolution)


def test_where_everything_meets_the_walk_ends_at_the_highest_rate() -> None:
    tried = walk(lambda _rate: True, 3000)
    assert tried[-1].rate_per_s == 10_000
    assert bracket(tried) == Bracket(10_000, None)


def test_a_walk_over_a_service_without_a_clear_limit_ends_all_the_same() -> None:
    dice = random.Random(1)
    for _ in range(50):
        tried = walk(lambda rate: dice.random() < 300 / (300 + rate), 100)
        assert len(tried) == len({each.rate_per_s for each in tried}) < 40
