"""What the driver of closed loads makes of a trial: its length, its errors, its extras."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from closed_driver import FAST, MIDDLE, answers, piloted

from restbench.analyse.estimates import measurements
from restbench.drive.generator import CORRECT, WRONG
from restbench.experiment.cell import Cell
from restbench.failures import EnvironmentProblem
from restbench.schedule import closed_load, reduction
from restbench.schedule.pace import PlannedTrial
from restbench.store.trials import AGAIN, Trial

pytestmark = pytest.mark.usefixtures("short_loads")


def trial(which: Cell, **changes: Any) -> Trial:
    usual = Trial(1, 1, which.id, which.users, 0, 1.0, np.full(9, 1))
    return replace(usual, **changes)


def finds(
    patch: pytest.MonkeyPatch, here: Any, found: Cell | Trial, sent: Any = None, **service: Any
) -> list[tuple[Any, ...]]:
    """Let the next trials of a block find this, on a service that is up, without a front, or like
    that. What the load generator is asked for."""
    asked: list[tuple[Any, ...]] = []

    def loads(*given: Any) -> Any:
        asked.append(given)
        return sent or answers([0.1] * 10)

    usual = {"pids": tuple, "front_pids": tuple, "alive": lambda: True, "ending": lambda: "it died"}
    running = SimpleNamespace(service=SimpleNamespace(**(usual | service)))
    its = trial(found) if isinstance(found, Cell) else found
    patch.setattr(reduction, "reduced", lambda *_given: its)
    here.load.trial, here.load.pid = loads, 1
    patch.setattr(here, "running", lambda _cell: running)
    return asked


@pytest.mark.parametrize(
    ("kept_s", "in_it", "then_s"),
    [pytest.param(3.0, 0, 9.0, id="none"), pytest.param(0.0001, 2, 0.1, id="by chance")],
)
def test_answers_that_came_too_late_make_the_second_attempt_longer_and_that_tells_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_s: float, in_it: int, then_s: float
) -> None:
    here, driver = piloted(tmp_path, claimed=[MIDDLE])
    assert driver.paces[MIDDLE].response_s == 1.5
    found = trial(MIDDLE, seconds=kept_s, elapsed_us=np.full(in_it, 9_000_000))
    late = SimpleNamespace(records=answers([9.0] * 30).records, first_error="", seconds=kept_s)
    finds(monkeypatch, here, found, late)
    with pytest.raises(EnvironmentProblem, match="no answer while it was measured"):
        driver.trial(PlannedTrial(1, MIDDLE))
    assert driver.paces[MIDDLE].response_s == pytest.approx(9.0)
    whole = SimpleNamespace(records=answers([then_s] * 30).records, seconds=15.0)
    finds(monkeypatch, here, MIDDLE, whole)
    driver.trial(PlannedTrial(1, MIDDLE))
    assert driver.paces[MIDDLE].response_s == pytest.approx(then_s)


def test_a_mix_whose_longest_response_outlasts_its_trial_is_measured_once_more_for_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pilot ended before users had piled up: 2 % of what was completed was large, not 5 %."""
    here, driver = piloted(tmp_path, claimed=[FAST])
    driver.paces[FAST] = replace(driver.paces[FAST], longest_s=1.2)
    sent = SimpleNamespace(records=answers([0.1, 4.5]).records, seconds=13.5)
    asked = finds(monkeypatch, here, FAST, sent)
    with pytest.raises(EnvironmentProblem, match="longest response took too long"):
        driver.trial(PlannedTrial(1, FAST))
    assert driver.trial(PlannedTrial(1, FAST))
    assert [given[3] for given in asked] == pytest.approx([3.6, 13.5])
    assert driver.paces[FAST].longest_s == pytest.approx(4.5)


@pytest.mark.parametrize("outcome", [CORRECT, WRONG])
def test_a_trial_in_which_an_instance_ended_is_none_unless_an_answer_was_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: int
) -> None:
    """The others behind its front went on answering, and nobody measured what was asked for."""
    here, driver = piloted(tmp_path, claimed=[FAST])
    sent = answers([0.1] * 10)
    sent.records["outcome"][0] = outcome
    found = trial(FAST, wrong=int(outcome == WRONG))
    finds(monkeypatch, here, found, sent, alive=lambda: False)
    if outcome == WRONG:
        assert driver.trial(PlannedTrial(1, FAST)) == found
        return
    with pytest.raises(EnvironmentProblem, match="it died"):
        driver.trial(PlannedTrial(1, FAST))


def test_what_a_front_took_stands_next_to_what_all_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which workers have connections is not known there: users' are the front's."""
    several = FAST.model_copy(update={"workers": 2})
    here, driver = piloted(tmp_path, claimed=[several])
    times_ms, pids = iter([100.0, 130.0]), (os.getpid(),)
    finds(monkeypatch, here, several, pids=lambda: pids, front_pids=lambda: pids)
    monkeypatch.setattr(reduction.process, "cpu_ms", lambda _pids: next(times_ms))
    monkeypatch.setattr(closed_load.connections, "counts", lambda *_of: [10])
    found = driver.trial(PlannedTrial(1, several))
    assert found is not None
    assert found.extras == {"front_cpu_ms_per_request": 3.0}


def test_the_connections_of_each_worker_are_kept_of_each_trial_of_a_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = FAST.model_copy(update={"workers": 3})
    here, driver = piloted(tmp_path, claimed=[several])
    finds(monkeypatch, here, several, address=("127.0.0.1", 1))
    drawn = iter([[7, 3], [10], [6, 3, 1]])
    monkeypatch.setattr(closed_load.connections, "counts", lambda *_of: next(drawn))
    trials = [driver.trial(PlannedTrial(1, several, arm)) for arm in ("", AGAIN, "")]
    assert [each.extras["busy_workers"] for each in trials if each] == [2, 1, 3]
    here.file.add([trial(several)])
    (measured,) = measurements(here.file.trials(), [], here.file.blocks(), cores=2)[several.id]
    assert measured.connections == [[7, 3], [6, 3, 1]]


@pytest.mark.parametrize(("users_pid", "asked"), [(77, [(8080, (5, 6), 77)]), (0, [])])
def test_connections_are_counted_of_the_trials_users_where_one_process_has_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    users_pid: int,
    asked: list[tuple[object, ...]],
) -> None:
    """Those of others and of the harness were counted; users of several engines are in none."""
    several = FAST.model_copy(update={"workers": 2})
    here, driver = piloted(tmp_path, claimed=[several])
    finds(monkeypatch, here, several, address=("127.0.0.1", 8080), pids=lambda: (5, 6))
    here.load.pid = users_pid
    counted: list[tuple[object, ...]] = []
    monkeypatch.setattr(closed_load.connections, "counts", lambda *of: counted.append(of) or [10])
    driver.trial(PlannedTrial(1, several))
    assert counted == asked


def test_a_cell_that_left_too_many_ports_says_so_and_the_run_waits_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anew = FAST.model_copy(update={"connection": "each"})
    here, driver = piloted(tmp_path, claimed=[FAST, anew])
    finds(monkeypatch, here, FAST)
    waited = iter([False, True])
    monkeypatch.setattr(closed_load.connections, "await_ports", lambda: next(waited))
    for each in (FAST, anew, FAST):
        driver.trial(PlannedTrial(1, each))
    (event,) = here.file.events()
    assert (event.kind, event.cell) == ("ports-awaited", anew.id)
    assert event.text == "over 20000 ports were in TIME-WAIT"


def test_the_first_request_that_failed_is_noted_once_a_cell_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A count alone does not tell a refusal from a connection that ended."""
    here, driver = piloted(tmp_path, claimed=[FAST, MIDDLE])
    for which, errors, text in (
        (FAST, 0, ""),
        (FAST, 2, "java.io.EOFException: the connection ended"),
        (FAST, 1, "status 503"),
        (MIDDLE, 1, "status 503"),
    ):
        sent = answers([0.1] * 10)
        sent.first_error = text
        found = trial(which, errors=errors)
        finds(monkeypatch, here, found, sent)
        driver.trial(PlannedTrial(1, which))
        here.file.add([found])
    by_cell = measurements(here.file.trials(), here.file.events(), here.file.blocks(), cores=2)
    assert {which: [each.reason for each in by_cell[which]] for which in by_cell} == {
        FAST.id: ["the first request that failed: java.io.EOFException: the connection ended"],
        MIDDLE.id: ["the first request that failed: status 503"],
    }


def test_a_trial_is_as_long_as_its_pace_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, driver = piloted(tmp_path, claimed=[FAST])
    asked = finds(monkeypatch, here, FAST)
    driver.trial(PlannedTrial(1, FAST))
    pace = driver.paces[FAST]
    assert asked[0][:4] == (FAST.id, FAST.users, pace.drop_s, pace.keep_s)
    assert pace.drop_s < pace.keep_s


def test_a_trial_within_which_a_process_ended_has_no_cpu_time_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ended process counted as 0 ms at the end: the service's sum was too low, or negative."""
    here, driver = piloted(tmp_path, claimed=[FAST])
    child = subprocess.Popen(["true"])
    child.wait()
    finds(monkeypatch, here, FAST, pids=lambda: (os.getpid(), child.pid))
    counted: list[Any] = []

    def reduced(_block: int, _planned: object, _sent: object, pids: Any, _helpers: Any) -> Trial:
        counted.append(pids)
        return trial(FAST)

    monkeypatch.setattr(reduction, "reduced", reduced)
    driver.trial(PlannedTrial(1, FAST))
    assert counted == [()]
    assert [(each.kind, each.cell) for each in here.file.events()] == [("process-ended", FAST.id)]
    here.file.add([trial(FAST)])
    by_cell = measurements(here.file.trials(), here.file.events(), here.file.blocks(), cores=2)
    assert by_cell[FAST.id][0].flags == ("process-ended",)


def test_a_trial_counts_the_processes_that_the_service_has_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that a pool replaced meanwhile was once missing from the CPU time."""
    here, driver = piloted(tmp_path, claimed=[FAST])
    processes = iter([(1, 2), (1, 3)])
    asked = finds(monkeypatch, here, FAST, pids=lambda: next(processes))
    for _ in range(2):
        driver.trial(PlannedTrial(1, FAST))
    assert [given[4] for given in asked] == [(1, 2), (1, 3)]
