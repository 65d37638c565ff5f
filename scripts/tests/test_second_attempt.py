"""What the first attempt at a cell leaves to the record, whatever becomes of the second."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from stub_bench import Bench

from restbench.commands import ordering
from restbench.deploy.service import Service
from restbench.drive.measure import Task
from restbench.drive.session import Session
from restbench.experiment.records import CellRun
from restbench.failures import EnvironmentProblem, NoService
from restbench.machine.placement import Cores
from restbench.schedule import attempts
from restbench.schedule.attempts import Group, fail, measure_cell
from restbench.store.store import Run


@pytest.fixture
def group(tmp_path: Path) -> Group:
    order = ordering.order_for(Bench(tmp_path).experiment({"java": ["serial"]}), "p", "", [])
    return Group(order, Run(tmp_path / "run"), order.plan, lambda _line: None)


@pytest.fixture
def session() -> Session:
    return Session(Service("java", "http://127.0.0.1:1"), Cores((0,), (0,)), ("serial",), "stub")


def fails_once(task: Task) -> CellRun:
    if task.first_failure is None:
        raise EnvironmentProblem("the service died under load")
    return task.record("measured", flags=task.flags)


def replace_measuring(
    monkeypatch: pytest.MonkeyPatch, measured: Callable[[Task], CellRun] = fails_once
) -> None:
    monkeypatch.setattr(attempts, "measure", lambda _service, task, _run, _watch: measured(task))
    monkeypatch.setattr(attempts, "warm_all", lambda *_: None)


def test_a_service_that_does_not_come_up_for_the_second_attempt_does_not_hide_the_first(
    group: Group, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renew(_run: Run, _planned: object, session: Session) -> None:
        if session.spent:
            raise NoService("the java service did not come up")

    replace_measuring(monkeypatch)
    monkeypatch.setattr(attempts, "renew_if_spent", renew)
    session.resumed = True
    planned = group.cells[0]
    with pytest.raises(NoService):
        measure_cell(group, planned, session, lambda _now: None)
    record = fail(group, planned, "the java service did not come up")
    assert "resumed" in record.flags
    assert record.first_failure == "the service died under load"
    assert record.reason == "the java service did not come up"
    assert "retried" in record.flags


def test_what_is_said_of_a_service_once_is_said_by_the_second_attempt_too(
    group: Group, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renew(_run: Run, _planned: object, session: Session) -> None:
        session.restarted, session.spent = session.spent, False

    replace_measuring(monkeypatch)
    monkeypatch.setattr(attempts, "renew_if_spent", renew)
    session.resumed = True
    record = measure_cell(group, group.cells[0], session, lambda _now: None)
    assert record.status == "measured"
    assert {"resumed", "service-restarted", "retried"} <= set(record.flags)


def never(_task: Task) -> CellRun:
    raise EnvironmentProblem("the service died under load")


def test_what_is_said_of_a_service_is_said_by_the_record_of_a_cell_that_failed_twice(
    group: Group, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renew(_run: Run, _planned: object, session: Session) -> None:
        session.restarted, session.spent = session.spent, False

    replace_measuring(monkeypatch, never)
    monkeypatch.setattr(attempts, "renew_if_spent", renew)
    session.resumed = True
    record = measure_cell(group, group.cells[0], session, lambda _now: None)
    assert record.status == "failed"
    assert {"resumed", "service-restarted", "retried"} <= set(record.flags)
    assert len(record.flags) == len(set(record.flags))


def test_a_strategy_found_unfit_at_the_second_attempt_says_what_the_first_had_to_say(
    group: Group, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def once(_task: Task) -> CellRun:
        session.unfit["serial"] = "the service died of its warm-up"
        raise EnvironmentProblem("the service died under load")

    replace_measuring(monkeypatch, once)
    monkeypatch.setattr(attempts, "renew_if_spent", lambda *_: None)
    session.resumed = True
    record = measure_cell(group, group.cells[0], session, lambda _now: None)
    assert (record.status, record.reason) == ("failed", "the service died of its warm-up")
    assert record.first_failure == "the service died under load"
    assert {"resumed", "retried"} <= set(record.flags)


def test_a_cell_without_a_service_has_no_first_failure(group: Group) -> None:
    record = fail(group, group.cells[0], "port 8080 is in use")
    assert (record.status, record.reason) == ("failed", "port 8080 is in use")
    assert (record.first_failure, record.flags) == (None, ())
