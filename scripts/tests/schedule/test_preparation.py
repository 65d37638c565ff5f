"""What a block does before its first trial: it warms each strategy up, and knows when to stop."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fixture_run import cell

from restbench.experiment.cell import Cell
from restbench.machine import jvm, process
from restbench.schedule import preparation
from restbench.schedule.block_run import BlockRun
from restbench.schedule.preparation import WARM_SHARE, WARMING_S

SERIAL, LARGE, PINNED = (
    cell(f"java {of} 10") for of in ("serial low", "serial high", "pinned low")
)
LOGS = cell("java serial logs-low 10")
WORK = {"low": 12_000, "high": 2_000_000, "logs-low": 640}


class Service:
    """A JVM whose compilers take a share of each short load's CPU time, load by load; its clock is
    the loads'."""

    def __init__(self, *shares: float) -> None:
        self.shares: Iterator[float] = iter(shares)
        self.now_s = self.compilers_ms = self.service_ms = 0.0
        self.loads: list[Cell] = []

    def load(self, _here: object, which: Cell, _users: int, seconds: float) -> object:
        self.loads.append(which)
        self.now_s += seconds
        self.service_ms += 1000 * seconds
        self.compilers_ms += 1000 * seconds * next(self.shares)
        return object()


def warmed(
    monkeypatch: pytest.MonkeyPatch, service: Service, *cells: Cell, most_s: float = 40.0
) -> list[Cell]:
    """The cells that had a short load, in order."""

    def requests(which: Cell) -> Any:
        payload = SimpleNamespace(work=WORK[which.complexity])
        workload = "logs" if which is LOGS else "matrix"
        return SimpleNamespace(workload=workload, payloads={"one": payload})

    here = SimpleNamespace(
        block=1,
        cells=list(cells),
        lost={},
        requests=requests,
        at=lambda _what: None,
        deployments=SimpleNamespace(of=lambda _cell: None),
        order=SimpleNamespace(profile=SimpleNamespace(warm_max_s={"java": most_s})),
        view=SimpleNamespace(note=lambda _line: None),
    )
    monkeypatch.setattr(preparation, "short_load", service.load)
    monkeypatch.setattr(preparation.time, "monotonic", lambda: service.now_s)
    monkeypatch.setattr(jvm, "compilers_cpu_ms", lambda _pids: service.compilers_ms)
    monkeypatch.setattr(process, "cpu_ms", lambda _pids: service.service_ms)
    preparation.warm(cast(BlockRun, here))
    return service.loads


def test_rule_3_a_strategy_is_warm_when_its_compilers_are_quiet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares = (0.5, 1.01 * WARM_SHARE, 0.99 * WARM_SHARE, 1.0)
    assert warmed(monkeypatch, Service(*shares), SERIAL) == 3 * [SERIAL]


def test_rule_3_a_service_is_warm_when_they_are_quiet_under_all_its_strategies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service = Service(0.5, 0.0, 0.0, 0.3, 0.0, 0.0)
    assert warmed(monkeypatch, service, SERIAL, PINNED) == 3 * [SERIAL, PINNED]


def test_rule_3_its_time_for_that_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = warmed(monkeypatch, Service(*100 * [0.5]), SERIAL, PINNED, most_s=4 * WARMING_S)
    assert loads == 2 * [SERIAL, PINNED], "both strategies' loads are the service's time"


def test_the_smallest_size_of_a_strategy_warms_it_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert warmed(monkeypatch, Service(0.0), LARGE, SERIAL) == [SERIAL]


def test_each_workload_of_a_strategy_is_warmed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(0.0, 0.0)
    assert warmed(monkeypatch, service, LARGE, SERIAL, LOGS) == [LOGS, SERIAL]
