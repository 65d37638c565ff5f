"""schemathesis finds nothing in either service: every phase and check, contract/openapi.yaml."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from restbench import ROOT
from restbench.deploy import service
from restbench_robustness.services import running_services

pytestmark = pytest.mark.live

PHASES = {1: "examples,coverage,fuzzing,stateful", 2: "fuzzing,stateful", 3: "fuzzing,stateful"}
"""By seed: examples and coverage do not depend on it, and are tried once."""
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


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[service.Service]]:
    with running_services(tmp_path_factory.mktemp("services"), SETTINGS) as started:
        yield started


def findings(of: service.Service, seed: int) -> str:
    """What schemathesis says, nothing where it found nothing."""
    document = str(ROOT / "contract" / "openapi.yaml")
    command = [str(PROGRAM), "--config-file", str(CONFIGURATION), "run", document]
    options = ["--url", of.base_url, "--checks", "all"]
    options += ["--seed", str(seed), "--phases", PHASES[seed]]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    return f"{of.name}: {ended.stdout}{ended.stderr}" if ended.returncode else ""


@pytest.mark.parametrize("seed", PHASES)
def test_schemathesis_finds_nothing_in_either_service(
    running: list[service.Service], seed: int
) -> None:
    with ThreadPoolExecutor(len(running)) as pool:
        found = list(pool.map(lambda each: findings(each, seed), running))
    assert not any(found), "\n".join(found)
