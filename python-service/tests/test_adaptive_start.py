"""How the technique that chooses comes by what it decides with."""

import os
import socket
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from adaptive_under_test import run
from live_service import wait_until
from observed import Observed
from test_strategies import pids

from restbench_service.execution.adaptive import Adaptive
from restbench_service.execution.calibration_file import CalibrationFile
from restbench_service.execution.pool.fault import WorkerDiedError
from restbench_service.execution.pool.pool import ProcessPool
from restbench_service.execution.pool.process import CoreTime
from restbench_service.workloads.workload import Sample

SAMPLES = (Sample(Observed(), b"1"), Sample(Observed(0.001), b"20"))
OURS = {os.getpid()}
Start = Callable[[], Adaptive]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "costs.json"


@pytest.fixture
def start(file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    started: list[Adaptive] = []

    def begin() -> Adaptive:
        pool = ProcessPool("requests", "F2", socket.SOCK_STREAM, 1, ())
        started.append(Adaptive(pool, None, SAMPLES, CalibrationFile(file, {})))
        return started[-1]

    yield begin
    for strategy in started:
        strategy.close()


def waits(nanoseconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes seem to have waited for a core so much longer each time they are asked."""
    waited = count(0, nanoseconds)
    monkeypatch.setattr(ProcessPool, "core_time", lambda _: CoreTime(0, next(waited)))


def test_what_the_first_start_has_measured_the_next_one_reads(
    start: Start, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits(0, monkeypatch)
    first, second = start(), start()
    first.await_ready()
    assert list(first.facts()["kinds"]) == ["observed"]
    assert second.facts() == {}
    third = start()
    assert third.facts() == first.facts()
    assert file.exists()


def test_what_was_measured_while_others_had_the_cores_is_used_and_not_kept(
    start: Start, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits(10**15, monkeypatch)
    strategy = start()
    strategy.await_ready()
    assert list(strategy.facts()["kinds"]) == ["observed"]
    assert not file.exists()


def test_nobody_waits_for_the_calibration_of_one_that_was_not_awaited(start: Start) -> None:
    strategy = start()
    assert pids(run(strategy, b"0" * 7 + b"1")).isdisjoint(OURS)
    wait_until(lambda: strategy.facts() != {})
    assert pids(run(strategy, b"1")) == OURS


def test_a_calibration_that_fails_is_said_and_requests_go_to_processes(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Observed, "operations", fail)
    strategy = start()
    strategy.await_ready()
    assert strategy.facts() == {}
    assert "every request goes to a process" in caplog.text
    monkeypatch.undo()
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    assert pids(run(strategy, b"1")).isdisjoint(OURS)


def fail(_workload: Observed, _value: object) -> float:
    raise WorkerDiedError("the process that had this request died")
