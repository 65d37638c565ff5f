"""`restbench database` as a person calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from restbench.deploy.database import Database

pytestmark = pytest.mark.live


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "database"
    Database(tmp_path / "database").stop()


def restbench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = "from restbench.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, "database", "--folder", str(folder), *arguments],
        capture_output=True, text=True, check=False, env=os.environ,
    )  # fmt: skip


def test_it_is_started_looked_at_asked_and_stopped(folder: Path) -> None:
    done = restbench(folder, "start")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("postgresql://restbench_service@127.0.0.1:")
    assert f"{folder}/service.password" in done.stdout.replace("\n", "")
    assert Database(folder).alive()
    assert ": PostgreSQL " in restbench(folder, "status").stdout
    assert restbench(folder, "migrate").stdout == "applied: nothing, all was there\n"
    asked = restbench(folder, "psql", "--role", "monitor", "--", "-Atc", "SELECT current_user")
    assert asked.stdout == "restbench_monitor\n", asked.stderr
    again = restbench(folder, "start")
    assert again.returncode == 3
    assert "'restbench database stop' ends it" in again.stderr
    assert restbench(folder, "stop").stdout == "stopped: database\n"
    assert Database(folder).pids() == ()
    assert restbench(folder, "stop").stdout == "nothing was running\n"


@pytest.mark.parametrize("action", ["status", "migrate", "psql"])
def test_without_one_that_runs_the_mend_is_told(folder: Path, action: str) -> None:
    done = restbench(folder, action)
    assert done.returncode == 3
    assert "no database runs in" in done.stderr
    assert "'restbench database start'" in done.stderr


def test_a_wrong_action_is_a_wrong_option(folder: Path) -> None:
    assert restbench(folder, "begin").returncode == 2
