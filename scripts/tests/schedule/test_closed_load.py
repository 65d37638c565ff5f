"""What the driver of closed loads does with a block's time: pilot, rounds, slow cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from closed_driver import ALONE, FAST, MIDDLE, RESPONSES, SLOW, TABLE, answers, piloted
from fixture_run import cell
from stated_claims import claim, decided
from synthetic_rows import row

from restbench.drive import monitor, wrk
from restbench.experiment.cell import Cell
from restbench.experiment.selection import Where
from restbench.failures import CellsFailed
from restbench.schedule import allocation, closed_load, runner
from restbench.schedule.closed_load import MOST_KEPT_S, SINGLES_PART, ClosedDriver
from restbench.schedule.pace import BETWEEN_S, Pace, PlannedTrial, TrialGroup, least_seconds
from restbench.store.trials import Trial

pytestmark = pytest.mark.usefixtures("short_loads")


def taken(driver: ClosedDriver, seconds: float) -> Mapping[Cell, int]:
    found: dict[Cell, int] = {}
    for turns in driver.rounds(seconds):
        for planned in turns:
            found[planned.cell] = found.get(planned.cell, 0) + 1
    return found


def test_a_long_response_time_follows_from_fewer_users_and_needs_no_pilot(
    tmp_path: Path, short_loads: list[Cell]
) -> None:
    _, driver = piloted(tmp_path, claimed=[SLOW, MIDDLE, FAST])
    assert short_loads == [FAST, MIDDLE], "0.3 s is predicted for 30 users, 3 s for 60"
    assert driver.paces[SLOW].response_s == pytest.approx(3.0)
    assert driver.paces[SLOW].is_single_trial and not driver.paces[MIDDLE].is_single_trial


def test_one_round_of_a_block_is_of_loads_by_wrk(tmp_path: Path) -> None:
    here, driver = piloted(tmp_path, claimed=[FAST, MIDDLE])
    here.order.experiment.wrk = Where(users=[10])
    plan = list(driver.rounds(60))
    (round_,) = [each for each in plan if each[0].arm == closed_load.WRK]
    assert [each.cell for each in round_] == [FAST]
    here.order.experiment.wrk = None
    assert len(list(driver.rounds(60 - closed_load.WRK_WHOLE_S))) == len(plan) - 1


def test_a_load_by_wrk_that_fails_costs_its_cell_no_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, driver = piloted(tmp_path, claimed=[FAST])
    service = SimpleNamespace(service=SimpleNamespace(pids=tuple))
    payload = SimpleNamespace(body=lambda _id: b"{}")
    monkeypatch.setattr(here, "running", lambda _cell: service)
    monkeypatch.setattr(here, "requests", lambda _cell: {"": payload})
    monkeypatch.setattr(here, "url", lambda _cell: "http://127.0.0.1")
    monkeypatch.setattr(type(here.run), "cores", lambda _run: SimpleNamespace(own_load=None))
    counts = iter(([5.0], [8.0]))
    monkeypatch.setattr(monitor, "answered_requests", lambda *_of: next(counts))

    def fails(*_given: object, **_named: object) -> None:
        raise CellsFailed("Socket errors: timeout 3")

    monkeypatch.setattr(wrk.Client, "load", fails)
    assert driver.trial(PlannedTrial(1, FAST, closed_load.WRK)) is None
    assert here.sent[FAST.service_group, FAST.strategy] == 3
    assert here.lost == {}
    assert [each.kind for each in here.file.events()] == ["no-limit"]


def test_what_a_block_could_do_without_is_what_its_rounds_take_beyond_the_least(
    tmp_path: Path,
) -> None:
    here, driver = piloted(tmp_path, claimed=[FAST, MIDDLE])

    def seconds(of: Mapping[Cell, int]) -> float:
        return sum(count * driver.paces[each].seconds for each, count in of.items())

    least_s = seconds(taken(driver, 0.0))
    assert here.spare_part == 0
    whole_s = seconds(taken(driver, 60.0))
    assert here.spare_part == pytest.approx(1 - least_s / whole_s)
    assert least_s < whole_s / 2


@pytest.mark.parametrize("response_s", [0.0, 0.01, 0.05, 0.1, 0.25, 0.3, 3.0])
def test_no_block_takes_less_than_is_known_before_it(response_s: float) -> None:
    """A pass of warm-up for each strategy and a pilot of each cell belong to it."""
    group = TrialGroup("claims", (FAST, MIDDLE, ALONE))
    trials_s = least_seconds([group], dict.fromkeys(group.cells, Pace(response_s)))
    known_s = closed_load.least_block_s([group])
    assert known_s > 2 * 0.5 + 3 * closed_load.PILOT_S
    assert known_s <= 2 * 0.5 + 3 * (closed_load.PILOT_S + BETWEEN_S) + trials_s


def test_a_mix_is_kept_for_a_second_at_least_as_its_large_requests_take_longer_than_the_mean(
    tmp_path: Path,
) -> None:
    """Trials of 0.1 s with one user ended while a single large request was answered."""
    mix, quick = cell("java serial mix 1"), cell("java serial low 1")
    RESPONSES[mix] = RESPONSES[quick] = 0.003
    _, driver = piloted(tmp_path, claimed=[quick, mix])
    assert (driver.paces[mix].keep_s, driver.paces[quick].keep_s) == (1.0, 0.1)


def test_a_mix_is_kept_for_three_of_its_longest_answers_as_a_second_pilot_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large requests took longer than a trial of 1.2 s, ended after it and did not count."""
    mix, quick = cell("java serial mix 10"), cell("java serial low 10")
    asked: list[tuple[Cell, float]] = []

    def load(_here: object, which: Cell, _users: int, seconds: float) -> Any:
        asked.append((which, seconds))
        longest_s = 0.8 if seconds == closed_load.PILOT_S else 2.0
        return answers([0.003] * 200 + [longest_s])

    monkeypatch.setattr(closed_load, "short_load", load)
    _, driver = piloted(tmp_path, claimed=[quick, mix])
    assert asked == [(quick, 0.3), (mix, 0.3), (mix, 0.8)]
    pace = driver.paces[mix]
    assert pace.response_s < 0.25
    assert (pace.keep_s, pace.drop_s) == (6.0, 2.0)
    assert driver.paces[quick].keep_s < 1


def test_the_longest_answer_of_a_mix_is_measured_even_where_its_mean_is_known(
    tmp_path: Path, short_loads: list[Cell]
) -> None:
    mix = cell("java serial mix 60")
    RESPONSES[mix] = 1.5
    for number in (1, 2):
        _, driver = piloted(tmp_path, number, claimed=[mix])
        assert driver.paces[mix].longest_s == 1.5
    assert short_loads == 4 * [mix]


def test_where_one_request_waits_for_another_the_first_wave_tells_what_a_user_waits_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 requests of 20 ms one after the other: their mean is 310 ms, later ones take 600."""
    wave = answers([0.02 * place for place in range(1, 31)])
    monkeypatch.setattr(closed_load, "short_load", lambda *_given: wave)
    _, driver = piloted(tmp_path, claimed=[MIDDLE])
    assert driver.paces[MIDDLE].response_s == pytest.approx(0.6)


def test_what_a_pilot_found_is_known_to_later_blocks(
    tmp_path: Path, short_loads: list[Cell]
) -> None:
    piloted(tmp_path, claimed=[FAST, MIDDLE], rest=[ALONE])
    short_loads.clear()
    _, driver = piloted(tmp_path, 2, claimed=[FAST, MIDDLE], rest=[ALONE])
    assert short_loads == [FAST], "only what is quick is warmed up again"
    assert driver.paces[MIDDLE].response_s == 1.5


def test_of_a_cell_without_a_right_answer_the_pilot_is_known_and_no_endless_response(
    tmp_path: Path,
) -> None:
    """An infinite number is no JSON: the file of trials refused it, and the run ended."""
    here, _ = piloted(tmp_path, claimed=[MIDDLE])
    here.file.add([Trial(1, 1, MIDDLE.id, 30, 0, 1.0, np.zeros(0, np.int64), wrong=30)])
    _, driver = piloted(tmp_path, 2, claimed=[MIDDLE])
    assert driver.paces[MIDDLE].response_s == 1.5


def test_over_the_limit_only_cells_of_the_studys_tables_are_measured(tmp_path: Path) -> None:
    here, driver = piloted(tmp_path, claimed=[FAST], rest=[ALONE, TABLE])
    why = "one answer to each of its users takes 20 s, the profile's limit is 10 s"
    assert why in here.lost[ALONE]
    assert TABLE not in here.lost
    assert taken(driver, 60.0)[TABLE] == 1
    again, _ = piloted(tmp_path, 2, claimed=[FAST], rest=[ALONE, TABLE])
    assert ALONE in again.lost
    assert [each.block for each in again.file.events()] == [1], "told once"


MIX, BOUND = cell("java serial mix 10"), cell("java thread-per-element medium 10 core0")


@pytest.mark.parametrize(
    ("which", "alone_s", "is_piloted"),
    [
        (ALONE, 2.1, False),
        (ALONE, 1.9, True),
        (BOUND, 1.1, False),
        (TABLE, 20.0, True),
        (MIX, 20.0, True),
    ],
)
def test_where_one_request_shows_that_a_cell_is_over_the_limit_it_needs_no_pilot(
    tmp_path: Path, short_loads: list[Cell], which: Cell, alone_s: float, is_piloted: bool
) -> None:
    """Pilots of such cells took minutes of a block. Ten users share two cores, or the one to which
    the service is bound."""
    piloted(tmp_path, claimed=[FAST], rest=[which], alone_s={which: alone_s})
    assert (which in short_loads) is is_piloted


@pytest.mark.parametrize(("planned", "needed", "last"), [(3, (), 5), (5, {SLOW.id}, 7)])
def test_a_slow_cell_has_one_trial_in_the_planned_blocks_and_some_more_beyond_or_if_needed(
    tmp_path: Path, planned: int, needed: Iterable[str], last: int
) -> None:
    """Two claims could never be decided: one of their cells took a little more than the bound. An
    undecided claim needs it from the fourth block on, for an interval of blocks that are shared.
    A third claim had a verdict after four such blocks, and no further one confirmed it."""
    elapsed = np.full(60, 3_000_000, np.int64)
    for number in range(1, 8):
        expected = 1 if number == 1 or 4 <= number <= last else None
        here, driver = piloted(tmp_path, number, claimed=[FAST, MIDDLE, SLOW])
        here.planned = planned
        here.needed = frozenset(needed if number > 3 else ())
        assert taken(driver, 60.0).get(SLOW) == expected, number
        if expected:
            here.file.add([Trial(number, 1, SLOW.id, 60, 0, 3.0, elapsed)])


def test_a_claim_whose_slow_cells_share_two_blocks_is_open_and_gets_them_a_third(
    tmp_path: Path,
) -> None:
    """PE at 1000 rows shared two blocks with PS: two claims were decided, and it had no third."""
    slower = claim(
        'metric = "throughput_per_s"\nexpect = "greater"\n'
        'cells = { service = "java", strategy = "serial", complexity = "medium" }\n'
        "numerator = { users = 30 }\ndenominator = { users = 60 }\n"
    )
    measured = [row("java serial medium 30", [9.0, 9.01]), row("java serial medium 60", [1.0, 1.0])]
    needed = allocation.needed_cells(runner.undecided([decided(slower, measured)]))
    assert needed == {MIDDLE.id, SLOW.id}
    here, driver = piloted(tmp_path, 4, claimed=[FAST, MIDDLE, SLOW], rest=[TABLE])
    here.planned = 5
    here.file.add([Trial(each, 1, SLOW.id, 60, 0, 3.0, np.full(60, 3_000_000)) for each in (1, 3)])
    driver.pilot()
    here.needed = frozenset(needed)
    enough_s = (driver.paces[SLOW].seconds + 0.1) / SINGLES_PART
    assert taken(driver, enough_s)[SLOW] == 1, "before a cell that was never measured"


def test_cells_of_tables_come_before_those_of_claims_and_these_before_quicker_ones(
    tmp_path: Path,
) -> None:
    here, driver = piloted(tmp_path, claimed=[FAST, SLOW], rest=[MIDDLE, TABLE])

    def outside_rounds() -> set[Cell]:
        driver.pilot()
        seconds = [driver.paces[each].seconds for each in (MIDDLE, SLOW)]
        assert seconds == sorted(seconds)
        return set(taken(driver, (seconds[-1] + 0.1) / SINGLES_PART)) - {FAST}

    order = [TABLE, SLOW, MIDDLE]
    for each in order:
        assert outside_rounds() == {each}, each.id
        response_us = np.full(each.users, int(1e6 * RESPONSES[each]))
        here.file.add([Trial(1, 1, each.id, each.users, 0, RESPONSES[each], response_us)])


def test_most_of_the_time_is_for_what_claims_compare(tmp_path: Path) -> None:
    _, driver = piloted(tmp_path, claimed=[FAST], rest=[MIDDLE])
    found = taken(driver, 200.0)
    part_s = found[MIDDLE] * driver.paces[MIDDLE].seconds
    assert 0 < part_s <= 0.45 * 200
    assert found[FAST] * driver.paces[FAST].seconds > 0.5 * 200


def test_what_there_was_no_time_for_is_told_after_the_planned_blocks(tmp_path: Path) -> None:
    here, driver = piloted(tmp_path, 3, claimed=[FAST], rest=[MIDDLE, SLOW])
    assert SLOW not in taken(driver, 5.0)
    needed = f"the cell needs {driver.paces[SLOW].seconds / 60:.1f} minutes of a block"
    assert f"the run had no time for this; {needed}" in here.lost[SLOW]
    (tmp_path / "short").mkdir()
    short, driver = piloted(tmp_path / "short", 2, claimed=[FAST], rest=[MIDDLE, SLOW])
    short.planned = 2
    assert SLOW not in taken(driver, 5.0)
    assert SLOW in short.lost, "of a run that has no time for more than two of its three blocks"


@pytest.mark.parametrize(
    ("number", "is_followed", "expected"),
    [(2, True, None), (3, False, None), (3, True, 1), (4, False, None), (4, True, 1)],
)
def test_one_that_had_none_may_have_most_of_a_block_after_the_planned_ones_where_others_follow(
    tmp_path: Path, number: int, is_followed: bool, expected: int | None
) -> None:
    """Without a further block, claims would go without the time of the last one."""
    here, driver = piloted(tmp_path, number, claimed=[FAST, MIDDLE, SLOW])
    here.is_followed = is_followed
    assert taken(driver, 1.5 * driver.paces[SLOW].seconds).get(SLOW) == expected


@pytest.mark.parametrize(
    ("number", "planned", "needed", "expected"),
    [(3, 5, {FAST.id}, None), (4, 5, {FAST.id}, 1), (3, 5, (), 1), (3, 3, {FAST.id}, 1)],
)
def test_slow_cells_wait_for_later_blocks_where_claims_need_the_time_of_the_first_ones(
    tmp_path: Path, number: int, planned: int, needed: Iterable[str], expected: int | None
) -> None:
    here, driver = piloted(tmp_path, number, claimed=[FAST, MIDDLE, SLOW])
    here.planned, here.needed = planned, frozenset(needed)
    assert taken(driver, 3 * driver.paces[SLOW].seconds).get(SLOW) == expected


def test_where_claims_are_undecided_the_time_goes_to_the_cells_that_they_need(
    tmp_path: Path, short_loads: list[Cell]
) -> None:
    other = cell("java pinned medium 10")
    elapsed = np.full(60, 1_500_000, np.int64)
    for number in (1, 2, 3):
        here, driver = piloted(tmp_path, number, claimed=[FAST, MIDDLE])
        here.file.add([Trial(number, 1, MIDDLE.id, 30, 0, 3.0, elapsed)])
    here, driver = piloted(tmp_path, 4, claimed=[FAST, MIDDLE])
    here.planned = 5
    here.groups.append(TrialGroup("others", (other,)))
    driver.pilot()
    alike = taken(driver, 30.0)
    assert alike[FAST] == pytest.approx(alike[other], rel=0.2) and alike[MIDDLE] == 1
    here.needed = {FAST.id}
    focused = taken(driver, 30.0)
    assert MIDDLE not in focused, "slow, has its interval, and nobody needs it"
    assert focused[other] == 1
    assert focused[FAST] > 1.8 * alike[FAST]
    enough = MOST_KEPT_S / driver.paces[FAST].keep_s
    assert taken(driver, 200.0)[FAST] == enough, "the rest is for further blocks"
    for number in (1, 2, 3, 4, 5):
        here.file.add([Trial(number, 2, other.id, 10, 0, 3.0, elapsed)])
    short_loads.clear()
    driver.pilot()
    assert other not in taken(driver, 200.0), "quick, and measured in five blocks"
    assert other not in short_loads, "so it need not be warmed up either"
