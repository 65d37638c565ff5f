"""Every framework answers the contract's examples and probes; deviations.toml lists the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from restbench import service
from restbench.cell import Front, ServiceName
from restbench.ports import free as free_port
from restbench.store import ROOT

pytestmark = pytest.mark.live

RECEIVE_S = 2
"""The receive timeout of service and front; the probes wait for it."""
CASES: list[tuple[ServiceName, str, Front]] = [
    ("java", "tomcat", "none"),
    ("java", "servlet", "none"),
    ("java", "vertx", "none"),
    ("python", "flask", "none"),
    ("python", "fastapi", "none"),
    ("java", "tomcat", "nginx"),
    ("python", "flask", "nginx"),
]


@pytest.mark.parametrize(("name", "framework", "front"), CASES)
def test_a_framework_answers_as_the_contract_says(
    name: ServiceName, framework: str, front: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{name.upper()}_PORT", str(free_port()))
    monkeypatch.setenv(f"{name.upper()}_FRAMEWORK", framework)
    monkeypatch.setenv("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", str(RECEIVE_S))
    running = service.start(name, front, None, tmp_path, protected=True)
    try:
        assert json.loads(running.get("/health").text)["framework"] == framework
        fronted = [] if front == "none" else ["--front", front]
        ended = subprocess.run(
            [
                *(sys.executable, str(ROOT / "contract" / "run.py"), running.base_url, *fronted),
                *("--framework", framework, "--receive-seconds", str(RECEIVE_S)),
                *("--pid", str(running.processes[0].pid)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        running.stop()
    assert ended.returncode == 0, ended.stdout + ended.stderr
