"""Cells that take turns at one load have two attempts together, and each its record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from restbench.schedule.contests import half_measured, measure_contest
from stub_bench import Bench

from restbench.commands import ordering
from restbench.deploy.service import Service
from restbench.drive.load_profile import Turns
from restbench.drive.measure import Task
from restbench.drive.session import Session
from restbench.experiment.records import CellRun, Usage
from restbench.failures import EnvironmentProblem, NoService, WrongAnswers
from restbench.machine.placement import Cores
from restbench.schedule import attempts, contests
from restbench.schedule.attempts import Group
from restbench.store.store import Run
from restbench.store.writing import write_model

STRATEGIES = ("serial", "pinned", "adaptive")


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def group(tmp_path: Path, said: list[str]) -> Group:
    bench = Bench(tmp_path)
    order = ordering.order_for(bench.experiment({"java": list(STRATEGIES)}), "p", "", [])
    return Group(order, Run(tmp_path / "run"), order.plan, said.append)


@pytest.fixture
def session() -> Session:
    return Session(Service("java", "http://127.0.0.1:1"), Cores((0,), (0,)), STRATEGIES, "stub")


@pytest.fixture(autouse=True)
def no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "warm_all", lambda *_: None)
    monkeypatch.setattr(attempts, "renew_if_spent", lambda *_: None)


def measured(task: Task) -> CellRun:
    usage = Usage(service_cpu_ms=1.0, load_cpu_ms=1.0, service_requests=1.0)
    return task.record("measured", usage=usage, flags=task.flags)


def replace_measuring(
    monkeypatch: pytest.MonkeyPatch, found: Callable[[Sequence[Task]], list[CellRun]]
) -> None:
    monkeypatch.setattr(contests, "measure", lambda _service, tasks, _run, _watch: found(tasks))


def contest(group: Group, session: Session) -> dict[str, CellRun]:
    found = measure_contest(group, group.cells, session, lambda _now, _of: None)
    assert [each.cell for each in found] == [each.cell for each in group.cells]
    return {each.cell.strategy: each for each in found}


def test_all_are_measured_at_once(
    group: Group, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    together: list[int] = []

    def measure(tasks: Sequence[Task]) -> list[CellRun]:
        together.append(len(tasks))
        return [measured(each) for each in tasks]

    replace_measuring(monkeypatch, measure)
    assert {each.status for each in contest(group, session).values()} == {"measured"}
    assert together == [3]
    assert not session.spent


def test_what_the_service_does_not_have_fails_and_the_others_take_turns(
    group: Group, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_measuring(monkeypatch, lambda tasks: [measured(each) for each in tasks])
    session.unfit["pinned"] = "no core of its own"
    found = contest(group, session)
    assert (found["pinned"].status, found["pinned"].reason) == ("failed", "no core of its own")
    assert {found[name].status for name in ("serial", "adaptive")} == {"measured"}


def test_a_load_that_fails_is_tried_once_more_and_every_record_says_so(
    group: Group, session: Session, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    def once(tasks: Sequence[Task]) -> list[CellRun]:
        if tasks[0].first_failure is None:
            raise EnvironmentProblem("the service died under load")
        return [measured(each) for each in tasks]

    replace_measuring(monkeypatch, once)
    found = contest(group, session)
    assert {each.first_failure for each in found.values()} == {"the service died under load"}
    assert all("retried" in each.flags for each in found.values())
    (line,) = said
    assert "once more on a fresh service: the service died under load" in line
    assert all(name in line for name in STRATEGIES)


def test_a_load_that_fails_twice_has_a_record_for_each(
    group: Group, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_tasks: Sequence[Task]) -> list[CellRun]:
        raise EnvironmentProblem("JMeter ended too early")

    replace_measuring(monkeypatch, fails)
    found = contest(group, session)
    assert {each.reason for each in found.values()} == {"JMeter ended too early"}
    assert session.spent


def test_a_wrong_answer_before_the_load_has_no_second_attempt(
    group: Group, session: Session, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    def wrong(_tasks: Sequence[Task]) -> list[CellRun]:
        raise WrongAnswers("java-pinned: the product is wrong; nothing was measured")

    replace_measuring(monkeypatch, wrong)
    found = contest(group, session)
    assert all("wrong-answers" in each.flags for each in found.values())
    assert said == []


def test_without_a_service_for_the_second_attempt_the_first_is_told(
    group: Group, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renew(_run: object, _planned: object, session: Session) -> None:
        if session.spent:
            raise NoService("the java service did not come up")

    def fails(_tasks: Sequence[Task]) -> list[CellRun]:
        raise EnvironmentProblem("the service died under load")

    monkeypatch.setattr(attempts, "renew_if_spent", renew)
    replace_measuring(monkeypatch, fails)
    with pytest.raises(NoService):
        measure_contest(group, group.cells, session, lambda _now, _of: None)
    found = [attempts.fail(group, each, "") for each in group.cells]
    assert {each.first_failure for each in found} == {"the service died under load"}
    assert {each.reason for each in found} == {"the java service did not come up"}


@pytest.mark.parametrize(("recorded", "lost"), [(0, 0), (1, 1), (2, 2), (3, 0)])
def test_a_contest_of_which_some_have_a_record_is_measured_anew_as_a_whole(
    group: Group, recorded: int, lost: int
) -> None:
    run, turns = group.run, Turns(turn_s=0.1, measured_s=1)
    in_turns = group.order.profile.model_copy(update={"turns": [turns]})
    folders = [run.cell(each.block, each.cell.id) for each in group.cells]
    for each, folder in zip(group.cells[:recorded], folders, strict=False):
        record = attempts.task_of(group, each, Cores((0,), (0,)), None).record("measured")
        folder.path.mkdir(parents=True)
        write_model(folder.record, record)
    assert half_measured(group.cells, in_turns, run) == [each.path for each in folders[:lost]]
    assert half_measured(group.cells, group.order.profile, run) == []
