"""The contract on the wire: its examples and probes against every framework, bare and behind nginx.
What differs stands in contract/deviations.toml."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from ports import free_port

from restbench import fronts, service
from restbench.cell import Front, ServiceName
from restbench.store import ROOT

RECEIVE_S = "2"
FRAMEWORKS: list[tuple[ServiceName, str]] = [
    ("java", "tomcat"),
    ("java", "servlet"),
    ("java", "vertx"),
    ("python", "flask"),
    ("python", "fastapi"),
]


@pytest.mark.live
@pytest.mark.parametrize("front", ["none", "nginx"])
@pytest.mark.parametrize(("name", "framework"), FRAMEWORKS)
def test_a_framework_answers_as_the_contract_says(
    name: ServiceName,
    framework: str,
    front: Front,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if front != "none":
        fronts.program(front)
    monkeypatch.setenv(f"{name.upper()}_PORT", str(free_port()))
    monkeypatch.setenv(f"{name.upper()}_FRAMEWORK", framework)
    monkeypatch.setenv("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", RECEIVE_S)
    started = service.start(name, front, None, tmp_path, protected=True)
    try:
        assert started.health()["framework"] == framework
        runner = [sys.executable, str(ROOT / "contract" / "run.py"), started.base_url]
        asked = ["--framework", framework, "--receive-seconds", RECEIVE_S]
        asked += ["--pid", str(started.processes[0].pid)]
        asked += [] if front == "none" else ["--front", front]
        done = subprocess.run([*runner, *asked], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        started.stop()
