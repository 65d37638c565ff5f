"""schemathesis finds nothing in either service: every phase and check, contract/openapi.yaml."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from restbench import ROOT
from restbench.deploy import service
from restbench.deploy.database import Database
from restbench.experiment.cell import ServiceName
from restbench.machine.ports import free as free_port

pytestmark = pytest.mark.live

SERVICES: tuple[ServiceName, ...] = ("java", "python")
PHASES = {1: "examples,coverage,fuzzing,stateful", 2: "fuzzing", 3: "fuzzing"}
"""By seed: what does not depend on it is tried once."""
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
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        database = Database(tmp_path_factory.mktemp("database"))
        stack.callback(database.stop)
        database.start()
        database.migrate()
        settings = SETTINGS | database.environment()
        started = []
        for name in SERVICES:
            patch.setenv(f"{name.upper()}_PORT", str(free_port()))
            folder = tmp_path_factory.mktemp(name)
            started.append(service.start(name, "none", None, folder, settings=settings))
            stack.callback(started[-1].stop)
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
