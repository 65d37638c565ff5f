"""`make serve` and `make stop`: what was started is ended, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from ports import free_port
from stub_cli import stub_command

from restbench.deploy import programs, serve
from restbench.failures import EnvironmentProblem


@pytest.fixture(autouse=True)
def stubs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(serve, "serve_folder", lambda: tmp_path)
    monkeypatch.setitem(programs.COMMANDS, "java", lambda _settings: stub_command("java"))
    monkeypatch.setitem(programs.COMMANDS, "python", lambda _settings: stub_command("python"))
    monkeypatch.setenv("JAVA_PORT", str(free_port()))
    monkeypatch.setenv("PYTHON_PORT", str(free_port()))
    yield
    serve.stop_all()


def test_both_services_run_until_they_are_stopped() -> None:
    started = serve.start_all()
    assert set(serve.running()) == {"java", "python"}
    assert all(each.health()["service"] == each.name for each in started)
    with pytest.raises(EnvironmentProblem, match="'make stop' ends them"):
        serve.start_all()
    assert serve.stop_all() == ["java", "python"]
    assert not any(psutil.pid_exists(each.processes[0].pid) for each in started)
    assert serve.running() == {}
    for each in started:
        each.client.close()


def test_when_the_second_does_not_come_up_the_first_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dying = [sys.executable, "-c", "raise SystemExit('no flask')"]
    monkeypatch.setitem(programs.COMMANDS, "python", lambda _settings: dying)
    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(EnvironmentProblem, match="no flask"):
        serve.start_all()
    assert set(psutil.Process().children(recursive=True)) == before
    assert serve.running() == {}


def test_a_process_that_got_the_number_of_a_service_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        born_s = psutil.Process(stranger.pid).create_time()
        noted = {"java": [[stranger.pid, born_s - 3600]]}
        (tmp_path / "processes.json").write_text(json.dumps(noted))
        assert serve.stop_all() == []
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
