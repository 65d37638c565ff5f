"""How long trials are and how they are interleaved (method, rules 2 and 3)."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from fixture_run import cell

from restbench.schedule.pace import (
    MOST_ROUNDS,
    Contest,
    Pace,
    interleaved,
    predicted_s,
    rounds_of,
    slow_ones,
)
from restbench.store.trials import AGAIN

FAST, OTHER, SLOW = (
    cell(text) for text in ("java serial low 10", "java pinned low 10", "java serial medium 30")
)
PACES = {FAST: Pace(0.002), OTHER: Pace(0.003), SLOW: Pace(1.0)}


@pytest.mark.parametrize(
    ("response_s", "keep_s", "drop_s"),
    [
        (0.001, 0.1, 0.02),  # never under 0.1 s
        (0.1, 1.0, 0.2),
        (0.25, 2.5, 0.5),
        (0.5, 2.5, 0.5),  # 3 R or 2.5 s
        (2.0, 6.0, 2.0),  # at least one response is left out
        (8.0, 15.0, 8.0),  # never over 15 s
    ],
)
def test_rule_3_what_is_kept_and_left_out_follows_from_the_response_time(
    response_s: float, keep_s: float, drop_s: float
) -> None:
    pace = Pace(response_s)
    assert pace.keep_s == pytest.approx(keep_s)
    assert pace.drop_s == pytest.approx(drop_s)
    assert pace.seconds > keep_s + drop_s + response_s


def test_rule_2_a_round_has_every_cell_and_the_first_of_several_once_more() -> None:
    assert Contest("both", (FAST, OTHER)).turns == ((FAST, ""), (OTHER, ""), (FAST, AGAIN))
    assert Contest("one", (FAST,)).turns == ((FAST, ""),)


def test_time_is_divided_by_shares_and_everybody_has_a_round() -> None:
    contests = [Contest("a", (FAST,), share=3), Contest("b", (OTHER,), share=1)]
    paces = {FAST: Pace(0.1), OTHER: Pace(0.1)}
    rounds = rounds_of(contests, paces, 100 * paces[FAST].seconds)
    assert rounds["a"] == pytest.approx(3 * rounds["b"], abs=3)
    assert sum(rounds.values()) == pytest.approx(100, abs=2)
    assert rounds_of(contests, paces, -5.0) == {"a": 1, "b": 1}


def test_what_a_contest_has_no_rounds_for_is_the_others() -> None:
    contests = [Contest("quick", (FAST,), share=9), Contest("slow", (SLOW,), share=1)]
    rounds = rounds_of(contests, PACES, 600.0)
    assert rounds["quick"] == MOST_ROUNDS
    left = 600 - MOST_ROUNDS * PACES[FAST].seconds
    assert rounds["slow"] == pytest.approx(left / PACES[SLOW].seconds, abs=2)


def test_rule_2_rounds_are_spread_over_the_block_in_an_order_that_changes() -> None:
    contests = [Contest("both", (FAST, OTHER)), Contest("slow", (SLOW,))]
    plan = interleaved(contests, {"both": 40, "slow": 10}, random.Random(7))
    again = interleaved(contests, {"both": 40, "slow": 10}, random.Random(7))
    assert plan == again
    names = [turns[0].contest for turns in plan]
    assert Counter(names) == {"both": 40, "slow": 10}
    halves = Counter(names[:25])
    assert 3 <= halves["slow"] <= 7
    orders = {tuple((each.cell.id, each.arm) for each in turns) for turns in plan if len(turns) > 1}
    assert len(orders) > 3
    for turns in plan:
        assert len({each.round for each in turns}) == 1


def test_a_cell_of_one_trial_a_run_has_a_shorter_one() -> None:
    pace = Pace(8.0, once=True)
    assert (pace.keep_s, pace.drop_s) == (8.0, 2.0)
    assert Pace(2.1, once=True).keep_s == 2.5


def test_the_response_time_of_many_users_follows_from_that_of_fewer() -> None:
    users = {number: cell(f"java serial medium {number}") for number in (1, 10, 30, 60)}
    known = {users[1]: 0.1, cell("java pinned medium 30"): 7.0, users[10]: 0.5}
    assert predicted_s(users[60], known, 2) == pytest.approx(3.0)
    # One user keeps one of two cores busy, two keep both.
    assert predicted_s(users[30], {users[1]: 0.1}, 2) == pytest.approx(1.5)
    assert predicted_s(users[1], {users[10]: 1.0}, 2) is None
    assert predicted_s(cell("java serial high 30"), known, 2) is None


def test_slow_cells_share_a_part_of_a_block_and_those_of_tables_come_first() -> None:
    quick, table, slowest = (cell(f"java serial medium {users}") for users in (10, 30, 60))
    paces = {
        quick: Pace(2.0, once=True),
        table: Pace(9.0, once=True),
        slowest: Pace(8.0, once=True),
    }
    assert slow_ones(paces, {}, {table}, 1.0) == [table], "whatever time it takes"
    room_s = paces[table].seconds + paces[quick].seconds
    assert slow_ones(paces, {}, {table}, room_s + 0.1) == [table, quick]
    assert slow_ones(paces, {table: 1, quick: 1}, {table}, paces[slowest].seconds + 0.1) == [
        slowest
    ]
