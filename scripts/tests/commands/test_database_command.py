"""`restbench database` as a person calls it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import Done, restbench, started

from restbench.deploy.database import Database
from restbench.machine import storage

pytestmark = pytest.mark.live


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "database"
    Database(tmp_path / "database").stop()


def asked(folder: Path, *arguments: str, run: Callable[..., Done] = restbench) -> Done:
    return run("database", "--folder", str(folder), *arguments)


def test_it_is_started_looked_at_asked_and_stopped(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o1777)
    done = asked(folder, "start", run=started)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("postgresql://restbench_service@127.0.0.1:")
    assert f"{folder}/service.password" in done.stdout
    assert Database(folder).alive()
    assert folder.stat().st_mode & 0o7777 == 0o1777, "it is not ours to change"
    assert ": PostgreSQL " in asked(folder, "status").stdout
    assert asked(folder, "migrate").stdout == "applied: nothing, all were applied before\n"
    query = ("psql", "--role", "monitor", "--", "-Atc", "SELECT current_user")
    told = asked(folder, *query, run=started)
    assert told.stdout == "restbench_monitor\n", told.stderr
    again = asked(folder, "start")
    assert again.returncode == 3
    assert "'restbench database stop' ends it" in again.stderr
    assert asked(folder, "stop").stdout == "stopped: database\n"
    assert Database(folder).pids() == ()
    assert asked(folder, "stop").stdout == "nothing was running\n"


def test_a_folder_with_files_of_others_is_refused_and_left_as_it_is(folder: Path) -> None:
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    folder.chmod(0o1777)
    done = asked(folder, "start")
    assert done.returncode == 2
    assert "has files, but no database of restbench" in done.stderr
    assert folder.stat().st_mode & 0o7777 == 0o1777
    assert [each.name for each in folder.iterdir()] == ["notes.txt"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_on_a_full_disk_it_names_the_file_and_what_there_was_no_room_for() -> None:
    """Of the first it said `a file`, of the second only that initdb had removed its folder."""
    with storage.mounted(16) as disk:
        with storage.filled(disk):
            done = asked(disk / "database", "start")
        assert done.returncode == 3
        password = f"{disk}/database/owner.password"
        assert f"{password}: cannot be written: No space left on device" in done.stderr
        assert not Path(password).exists(), "an empty one would be taken for the password"
        done = asked(disk / "database", "start")
        assert done.returncode == 3
        assert f"restbench: {disk}/database: initdb: could not " in done.stderr
        assert done.stderr.endswith(": No space left on device\n")


@pytest.mark.parametrize("action", ["status", "migrate", "psql"])
def test_without_one_that_runs_the_mend_is_told(folder: Path, action: str) -> None:
    done = asked(folder, action)
    assert done.returncode == 3
    assert "no database runs in" in done.stderr
    assert "'restbench database start'" in done.stderr


def test_a_wrong_action_is_a_wrong_option(folder: Path) -> None:
    assert asked(folder, "begin").returncode == 2
