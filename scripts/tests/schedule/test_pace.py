"""How long trials are and how they are interleaved (method, rules 2 and 3)."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from fixture_run import cell

from restbench.schedule.pace import (
    LEAST_KEPT_S,
    MOST_ROUNDS,
    Pace,
    TrialGroup,
    bands,
    interleaved,
    least_rounds,
    least_seconds,
    predicted_s,
    rounds_of,
    trials_outside_rounds,
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
        (0.25, 1.0, 0.25),  # nor over 1 s
        (0.3, 1.0, 0.3),  # 3 R, or 1 s
        (0.5, 1.5, 0.5),
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


@pytest.mark.parametrize(
    ("longest_s", "keep_s", "drop_s"), [(0.1, 1.0, 0.2), (3.0, 9.0, 3.0), (8.0, 15.0, 8.0)]
)
def test_rule_3_a_mix_is_kept_for_three_of_its_longest_responses_and_one_is_left_out(
    longest_s: float, keep_s: float, drop_s: float
) -> None:
    pace = Pace(0.05, users=60, is_mix=True, longest_s=longest_s)
    assert (pace.keep_s, pace.drop_s) == pytest.approx((keep_s, drop_s))
    assert pace.seconds > keep_s + drop_s + longest_s


def test_a_mix_shares_rounds_with_other_cells_of_the_mix_alone() -> None:
    paces = {**PACES, OTHER: Pace(0.003, is_mix=True, longest_s=3.0)}
    found = bands(TrialGroup("all", (FAST, OTHER), share=4), paces)
    assert [(each.cells, each.share) for each in found] == [((FAST,), 2), ((OTHER,), 2)]
    assert len({each.name for each in found}) == 2


@pytest.mark.parametrize(
    ("factors", "rounds"),
    [
        ("", 1),
        ("workers=5", 8),
        ("workers=5 connection=each", 1),
        ("workers=5 front=nginx", 1),
    ],
)
def test_where_each_trial_draws_the_workers_of_the_users_a_block_has_eight(
    factors: str, rounds: int
) -> None:
    drawn = cell(f"python serial low 60 framework=fastapi-gunicorn {factors}")
    assert least_rounds([FAST, drawn], {FAST: Pace(0.1), drawn: Pace(0.1)}) == rounds
    slow = {drawn: Pace(9.0, is_single_trial=True)}
    assert least_rounds([drawn], slow) == 1, "it has a trial or two in a run"


def test_rule_2_a_round_has_every_cell_and_the_first_of_several_once_more() -> None:
    assert TrialGroup("both", (FAST, OTHER)).trials == ((FAST, ""), (OTHER, ""), (FAST, AGAIN))
    assert TrialGroup("one", (FAST,)).trials == ((FAST, ""),)


def test_time_is_divided_by_shares_and_everybody_has_a_round() -> None:
    groups = [TrialGroup("a", (FAST,), share=3), TrialGroup("b", (OTHER,), share=1)]
    paces = {FAST: Pace(0.1), OTHER: Pace(0.1)}
    rounds = rounds_of(groups, paces, 100 * paces[FAST].seconds)
    assert rounds["a"] == pytest.approx(3 * rounds["b"], abs=3)
    assert sum(rounds.values()) == pytest.approx(100, abs=2)
    assert rounds_of(groups, paces, -5.0) == {"a": 1, "b": 1}
    least = round(LEAST_KEPT_S / PACES[FAST].keep_s)
    assert rounds_of([TrialGroup("quick", (FAST, OTHER))], PACES, -5.0) == {"quick": least}


def test_what_a_block_takes_at_least_is_a_second_of_each_cell_whatever_time_it_has() -> None:
    groups = [TrialGroup("quick", (FAST, OTHER)), TrialGroup("slow", (SLOW,))]
    least = {each.name: least_rounds(each.cells, PACES) for each in groups}
    assert rounds_of(groups, PACES, 0.0) == least
    again, slow = 2 * PACES[FAST].seconds + PACES[OTHER].seconds, PACES[SLOW].seconds
    assert least_seconds(groups, PACES) == pytest.approx(10 * again + slow)


def test_what_a_group_has_no_rounds_for_is_the_others() -> None:
    groups = [TrialGroup("quick", (FAST,), share=9), TrialGroup("slow", (SLOW,), share=1)]
    rounds = rounds_of(groups, PACES, 600.0)
    assert rounds["quick"] == MOST_ROUNDS
    left = 600 - MOST_ROUNDS * PACES[FAST].seconds
    assert rounds["slow"] == pytest.approx(left / PACES[SLOW].seconds, abs=2)
    assert rounds_of(groups, PACES, 600.0, most_kept_s=20.0) == {"quick": 200, "slow": 6}
    assert rounds_of(groups, PACES, -5.0, most_kept_s=0.5) == rounds_of(groups, PACES, -5.0)


def test_rule_2_rounds_are_spread_over_the_block_in_an_order_that_changes() -> None:
    groups = [TrialGroup("both", (FAST, OTHER)), TrialGroup("slow", (SLOW,))]
    plan = interleaved(groups, {"both": 40, "slow": 10}, random.Random(7))
    again = interleaved(groups, {"both": 40, "slow": 10}, random.Random(7))
    assert plan == again
    names = ["slow" if turns[0].cell == SLOW else "both" for turns in plan]
    assert Counter(names) == {"both": 40, "slow": 10}
    halves = Counter(names[:25])
    assert 3 <= halves["slow"] <= 7
    orders = {tuple((each.cell.id, each.arm) for each in turns) for turns in plan if len(turns) > 1}
    assert len(orders) > 3
    for turns in plan:
        assert len({each.round for each in turns}) == 1


def test_a_cell_of_one_trial_a_run_has_a_shorter_one() -> None:
    pace = Pace(8.0, is_single_trial=True)
    assert (pace.keep_s, pace.drop_s) == (8.0, 2.0)
    assert Pace(2.1, is_single_trial=True).keep_s == 2.5


def test_the_response_time_of_many_users_follows_from_that_of_fewer() -> None:
    users = {number: cell(f"java serial medium {number}") for number in (1, 10, 30, 60)}
    known = {users[1]: 0.1, cell("java pinned medium 30"): 7.0, users[10]: 0.5}
    assert predicted_s(users[60], known, 2) == pytest.approx(3.0)
    # One user keeps one of two cores busy, two keep both.
    assert predicted_s(users[30], {users[1]: 0.1}, 2) == pytest.approx(1.5)
    assert predicted_s(users[1], {users[10]: 1.0}, 2) is None
    assert predicted_s(cell("java serial high 30"), known, 2) is None


def test_cells_outside_the_rounds_have_trials_as_far_as_they_fit() -> None:
    quick, table, slow = (cell(f"java serial medium {users}") for users in (10, 30, 60))
    paces = {
        quick: Pace(2.0, is_single_trial=True),
        table: Pace(9.0, is_single_trial=True),
        slow: Pace(8.0, is_single_trial=True),
    }
    ranked = [table, slow, quick]
    assert trials_outside_rounds(ranked, paces, {table}, 1.0) == {table: 1}, (
        "whatever time it takes"
    )
    room_s = paces[table].seconds + paces[quick].seconds + 0.1
    assert trials_outside_rounds(ranked, paces, {table}, room_s) == {table: 1, quick: 1}
    assert trials_outside_rounds(ranked, paces, (), paces[slow].seconds + 0.1) == {slow: 1}
    fast = Pace(0.002)
    enough = round(LEAST_KEPT_S / fast.keep_s)
    assert trials_outside_rounds([FAST], {FAST: fast}, (), 60.0) == {FAST: enough}, (
        "short trials, many of them"
    )
    assert not trials_outside_rounds([FAST], {FAST: fast}, (), enough * fast.seconds - 0.1)


def test_quick_cells_of_a_group_have_rounds_of_their_own() -> None:
    group = TrialGroup("all", (SLOW, FAST, OTHER), share=4)
    assert bands(group, PACES) == [
        TrialGroup("all 0", (FAST, OTHER), share=4),
        TrialGroup("all 3", (SLOW,), share=0, again=False),
    ]
    assert bands(TrialGroup("slow", (SLOW,), share=2), PACES)[0].share == 2, (
        "nobody else to have it"
    )
    assert not bands(TrialGroup("none", ()), PACES)


def test_of_a_group_only_what_claims_need_shares_its_time() -> None:
    group = TrialGroup("all", (SLOW, FAST, OTHER), share=4)
    assert bands(group, PACES, {OTHER.id}) == [
        TrialGroup("all 0 rest", (FAST,), share=0),
        TrialGroup("all 0", (OTHER,), share=4),
        TrialGroup("all 3 rest", (SLOW,), share=0, again=False),
    ]
    shares = {each.cells: each.share for each in bands(group, PACES, {FAST.id, OTHER.id, SLOW.id})}
    assert sum(shares.values()) == pytest.approx(4), "slow ones too, once they are needed"
    round_s = [2 * PACES[FAST].seconds + PACES[OTHER].seconds, PACES[SLOW].seconds]
    assert shares[SLOW,] / shares[FAST, OTHER] == pytest.approx((round_s[1] / round_s[0]) ** 0.5)
    assert [each.share for each in bands(group, PACES, {"another group's"})] == [0, 0]


def test_rule_3_a_slow_cell_is_kept_for_thirty_responses_or_two_of_each_user() -> None:
    assert [Pace(2.0, users=users).keep_s for users in (10, 15, 60)] == pytest.approx(
        [6.0, 4.4, 4.4]
    )
