"""The search for the highest rate that meets an objective."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from restbench.experiment.walk import Bracket, Search, Tried, bracket, next_rate

SEARCH = Search(
    factor=2, resolution=0.05, votes=2, lowest_per_s=1, highest_per_s=10_000, steps_max=40
)


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
    found = bracket(walk(lambda rate: rate <= capacity, start), SEARCH)
    assert found.settled
    assert found.met_per_s is not None
    assert found.failed_per_s is not None
    assert found.met_per_s <= capacity < found.failed_per_s <= 1.051 * found.met_per_s


def test_goes_up_by_the_factor_and_then_halves_the_bracket() -> None:
    rates = [each.rate_per_s for each in walk(lambda rate: rate <= 300, 100)]
    assert rates[:4] == [100, 200, 400, 282.8]


def test_both_ends_are_repeated_until_they_have_the_votes() -> None:
    tried = walk(lambda rate: rate <= 300, 100)
    found = bracket(tried, SEARCH)
    for end in (found.met_per_s, found.failed_per_s):
        assert sum(each.rate_per_s == end for each in tried) == 2


def test_one_unlucky_step_is_outvoted() -> None:
    unlucky = iter([False])
    found = bracket(walk(lambda rate: rate <= 300 and next(unlucky, True), 100), SEARCH)
    assert found.met_per_s is not None
    assert found.met_per_s > 280


def test_one_lucky_step_is_outvoted() -> None:
    lucky = {400.0: iter([True])}

    def meets(rate: float) -> bool:
        return rate <= 300 or next(lucky.get(rate, iter(())), False)

    found = bracket(walk(meets, 100), SEARCH)
    assert found.met_per_s is not None
    assert found.met_per_s <= 300


def test_a_failure_below_a_success_counts() -> None:
    tried = [Tried(100, True), Tried(200, False), Tried(400, True)]
    assert bracket(tried, SEARCH) == Bracket(100, 200, settled=False)


def test_where_nothing_meets_the_walk_ends_at_the_lowest_rate() -> None:
    tried = walk(lambda _rate: False, 8)
    assert tried[-1].rate_per_s == 1
    assert bracket(tried, SEARCH) == Bracket(None, 1, settled=True)


def test_where_everything_meets_the_walk_ends_at_the_highest_rate() -> None:
    tried = walk(lambda _rate: True, 3000)
    assert bracket(tried, SEARCH) == Bracket(10_000, None, settled=True)


def test_a_walk_is_bounded_and_says_that_it_is_not_settled() -> None:
    short = Search(2, 0.05, 2, 1, 10_000, steps_max=5)
    tried = walk(lambda rate: rate <= 300, 100, short)
    assert len(tried) == 5
    assert not bracket(tried, short).settled


def test_a_walk_over_a_service_without_a_clear_limit_ends_all_the_same() -> None:
    dice = random.Random(1)
    for _ in range(50):
        tried = walk(lambda rate: dice.random() < 300 / (300 + rate), 100)
        assert len(tried) <= SEARCH.steps_max
