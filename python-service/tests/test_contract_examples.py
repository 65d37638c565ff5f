"""The contract over HTTP, under every framework: examples, probes, and no other deviations."""

import subprocess
import sys
from pathlib import Path

import pytest
from live_service import running

from restbench_service.frameworks import FRAMEWORKS

RUNNER = Path(__file__).parents[2] / "contract" / "run.py"
HANDOFFS: dict[str, list[dict[str, str]]] = {
    "flask": [{}],
    "fastapi": [{"HANDOFF": "thread"}, {"HANDOFF": "loop"}],
}


@pytest.mark.parametrize(
    ("framework", "handoff"),
    [(framework, handoff) for framework in FRAMEWORKS for handoff in HANDOFFS[framework]],
)
def test_a_framework_answers_as_the_contract_and_its_deviations_say(
    tmp_path: Path, framework: str, handoff: dict[str, str]
) -> None:
    settings = {"PROCESSES": "2", "RECEIVE_TIMEOUT_SECONDS": "2", **handoff}
    with running(tmp_path / "log", FRAMEWORK=framework, **settings) as service:
        arguments = [f"http://127.0.0.1:{service.port}", "--framework", framework]
        ending = ["--pid", str(service.process.pid), "--receive-seconds", "2"]
        result = subprocess.run(
            [sys.executable, str(RUNNER), *arguments, *ending],
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        assert service.process.wait(60) == 0
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log and "ERROR" not in log
