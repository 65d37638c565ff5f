"""The contract on the wire: its examples and probes against every framework, and behind nginx.
What differs stands in contract/deviations.toml."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from ports import free_port

from restbench import ROOT
from restbench.deploy import fronts, service
from restbench.experiment.cell import Front, ServiceName

#: Every framework, and behind nginx the one that is the default. Where work runs, is for an event
#: loop alone.
PLACES: dict[ServiceName, list[tuple[str, Front, str]]] = {
    "java": [
        ("tomcat", "none", ""),
        ("tomcat", "nginx", ""),
        ("servlet", "none", ""),
        ("vertx", "none", ""),
    ],
    "python": [
        ("flask", "none", ""),
        ("flask", "nginx", ""),
        ("fastapi", "none", "thread"),
        ("fastapi", "none", "loop"),
    ],
}
RECEIVE_S = "2"
THROWN = r"Traceback|Exception in thread"
RUNNER = ROOT / "contract" / "run.py"


@pytest.mark.live
@pytest.mark.parametrize("name", PLACES)
def test_every_framework_answers_as_the_contract_says(
    name: ServiceName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of a language at once: they mostly wait for a server to lose patience."""
    fronts.program("nginx")
    monkeypatch.setenv("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", RECEIVE_S)
    with ExitStack() as stack:
        runs: dict[str, subprocess.Popen[str]] = {}
        for framework, front, handoff in PLACES[name]:
            monkeypatch.setenv(f"{name.upper()}_PORT", str(free_port()))
            monkeypatch.setenv(f"{name.upper()}_FRAMEWORK", framework)
            folder = tmp_path / f"{framework}-{front}-{handoff}"
            settings = {"RESTBENCH_HANDOFF": handoff} if handoff else {}
            started = service.start(name, front, None, folder, protected=True, settings=settings)
            stack.callback(started.stop)
            assert started.health()["framework"] == framework
            asked = ["--framework", framework, "--receive-seconds", RECEIVE_S]
            asked += ["--pid", str(started.processes[0].pid)]
            asked += [] if front == "none" else ["--front", front]
            runs[folder.name] = subprocess.Popen(
                [sys.executable, str(RUNNER), started.base_url, *asked],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        told = {place: run.communicate()[0] for place, run in runs.items()}
        logs = {place: (tmp_path / place / "service.log").read_text() for place in runs}
    wrong = [f"{place}: {told[place]}" for place, run in runs.items() if run.returncode]
    assert not wrong, "\n".join(wrong)
    thrown = [f"{it}: {log}" for it, log in logs.items() if re.search(THROWN, log)]
    assert not thrown, "\n".join(thrown)
