"""schemathesis finds nothing in either service: every phase and check, contract/openapi.yaml."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from restbench import ROOT
from restbench.deploy import service
from restbench_robustness.services import running_services

pytestmark = pytest.mark.live

SETTINGS = {
    "RESTBENCH_MAX_BODY_BYTES": str(1 << 20),
    "RESTBENCH_INPUT_CACHE_BYTES": "0",
    "RESTBENCH_MEMORY_BUDGET_BYTES": str(16 << 20),
    "RESTBENCH_MAX_DELAY_MILLIS": "20",
}
"""Leaves out the classes that run for longer than schemathesis waits: they are 010. Its delays are
random numbers of up to six digits: most are 003."""
PROGRAM = Path(sys.executable).with_name("schemathesis")
CONFIGURATION = Path(__file__).parents[1] / "schemathesis.toml"


def findings(of: service.Service) -> str:
    """What schemathesis says, nothing where it found nothing."""
    document = str(ROOT / "contract" / "openapi.yaml")
    command = [str(PROGRAM), "--config-file", str(CONFIGURATION), "run", document]
    options = ["--url", of.base_url, "--checks", "all", "--seed", "1"]
    options += ["--phases", "examples,coverage,fuzzing,stateful"]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    return f"{of.name}: {ended.stdout}{ended.stderr}" if ended.returncode else ""


@pytest.mark.timeout(900)
def test_schemathesis_finds_nothing_in_either_service(tmp_path: Path) -> None:
    with running_services(tmp_path, SETTINGS) as running, ThreadPoolExecutor(len(running)) as pool:
        found = list(pool.map(findings, running))
    assert not any(found), "\n".join(found)
