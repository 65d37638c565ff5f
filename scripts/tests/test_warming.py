"""A process is warmed up once, and only one that something will be measured on."""

from __future__ import annotations

from pathlib import Path

import pytest
from stub_bench import Bench

from restbench.commands import ordering
from restbench.deploy.service import Service
from restbench.drive import session, warming
from restbench.drive.measure import Task
from restbench.drive.session import Session
from restbench.experiment.records import CellRun, Proof
from restbench.failures import EnvironmentProblem
from restbench.machine.placement import Cores
from restbench.schedule import attempts, preparation
from restbench.schedule.attempts import Group, measure_cell
from restbench.schedule.preparation import prepare
from restbench.store.store import Run


@pytest.fixture
def group(tmp_path: Path) -> Group:
    path = Bench(tmp_path).experiment({"java": ["serial", "pinned"]})
    order = ordering.order_for(path, "p", "", [])
    return Group(order, Run(tmp_path / "run"), order.plan, lambda _line: None)


class Services:
    """Instead of services: a number each, and which of them were warmed up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started, self.warmed = 0, list[Path | None]()
        monkeypatch.setattr(session, "_own", lambda *_: self.new())
        monkeypatch.setattr(warming, "practise", lambda *_: None)
        monkeypatch.setattr(warming, "_warm", lambda target, *_: self.warmed.append(target.log))
        monkeypatch.setattr(Service, "serves", lambda _: True)
        monkeypatch.setattr(Service, "stop", lambda *_: None)
        monkeypatch.setattr(Service, "attached", False)
        monkeypatch.setattr(attempts, "is_spent", lambda _: False)
        monkeypatch.setattr(preparation.proofs, "keep", lambda *_: None)
        monkeypatch.setattr(attempts, "measure", lambda _service, task, *_: measured(task))

    def new(self) -> Session:
        self.started += 1
        one = Service("java", "http://127.0.0.1:1", log=Path(f"process-{self.started}"))
        return Session(one, Cores((0,), (0,)), ("serial", "pinned"), "stub")


def measured(task: Task) -> CellRun:
    return task.record("measured", flags=task.flags)


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Services:
    return Services(monkeypatch)


def fail_to_prove(monkeypatch: pytest.MonkeyPatch, strategy: str, times: int) -> None:
    """So often, each time with a service that is not used again."""
    left = [EnvironmentProblem("the service died of it")] * times

    def prove(_service: Service, looked_at: str, *_: object) -> Proof:
        if looked_at == strategy and left:
            raise left.pop()
        told = {"strategy": looked_at, "placement": "unbound", "claim": "", "evidence": ""}
        return Proof(service="java", does=True, **told)

    monkeypatch.setattr(preparation.proof, "prove", prove)


def warmed_until_measured(group: Group, services: Services) -> list[Path | None]:
    """The processes that were warmed up, an entry a strategy, until every cell has its record."""
    running = services.new()
    prepare(group, running, lambda _: None)
    for each in group.cells:
        measure_cell(group, each, running, lambda _now: None)
    return services.warmed


def test_a_process_that_is_new_since_a_proof_is_warmed_up_once(
    group: Group, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_to_prove(monkeypatch, group.cells[-1].cell.strategy, times=1)
    assert warmed_until_measured(group, services) == [Path("process-2")] * 2


def test_a_process_that_is_not_used_again_is_not_warmed_up(
    group: Group, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_to_prove(monkeypatch, group.cells[-1].cell.strategy, times=2)
    assert warmed_until_measured(group, services) == [Path("process-3")]


def test_a_cell_that_cannot_be_measured_has_no_process_started_for_it(
    group: Group, services: Services
) -> None:
    running = services.new()
    unfit, other = group.cells
    running.unfit[unfit.cell.strategy] = "the service died of its warm-up"
    running.spent = True
    assert measure_cell(group, unfit, running, lambda _now: None).status == "failed"
    assert services.started == 1
    assert measure_cell(group, other, running, lambda _now: None).status == "measured"
    assert (services.started, services.warmed) == (2, [Path("process-2")])
