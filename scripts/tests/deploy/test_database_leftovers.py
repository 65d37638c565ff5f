"""What is left of the harness' PostgreSQL when a harness, its guardian or a set-up ended early."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest
from harness_at_work import gone
from other_process import beside, line_of
from waiting import await_true

from restbench.deploy.database import Database, fresh
from restbench.machine import guardian

pytestmark = pytest.mark.live

Harness: TypeAlias = Callable[[str], tuple[subprocess.Popen[str], int]]

HARNESS = """
import signal, sys, threading, time
from pathlib import Path
from restbench.deploy.database import Database
from restbench.machine import watch

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
database = Database(Path(sys.argv[1]), overrides={"shared_buffers": "16MB"})
if sys.argv[2] == "thread":
    starting = threading.Thread(target=database.start)
    starting.start()
    starting.join()
else:
    database.start()
database.migrate()
(its_watch,) = watch._watches.values()
print(its_watch.process.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    """Another process that has a database in `cluster`; it, and its guardian's number."""
    with ExitStack() as stack:
        stack.callback(Database(tmp_path / "cluster").stop)

        def start(where: str) -> tuple[subprocess.Popen[str], int]:
            running = stack.enter_context(beside(HARNESS, str(tmp_path / "cluster"), where))
            return running, int(line_of(running))

        yield start


@pytest.mark.parametrize(
    ("how", "where"),
    [(signal.SIGINT, "main"), (signal.SIGKILL, "main"), (signal.SIGKILL, "thread")],
)
def test_nothing_is_left_of_it_when_its_harness_ends(
    tmp_path: Path, harness: Harness, how: signal.Signals, where: str
) -> None:
    running, _guardian = harness(where)
    server = Database(tmp_path / "cluster")
    assert server.pids()
    running.send_signal(how)
    running.wait()
    assert await_true(lambda: not server.pids()), "processes are left"
    assert await_true(lambda: not server.data.exists()), "data is left"


def test_what_a_killed_harness_and_its_killed_guardian_left_is_stopped_by_the_next(
    tmp_path: Path, harness: Harness
) -> None:
    running, guardian = harness("thread")  # of its main thread's the kernel would end it
    left = Database(tmp_path / "cluster").postmaster()
    os.kill(guardian, signal.SIGKILL)
    running.kill()
    running.wait()
    assert left is not None
    assert Database(tmp_path / "cluster").postmaster() == left
    anew = Database(tmp_path / "cluster", overrides={"shared_buffers": "16MB"})
    anew.start()
    try:
        assert left.pid not in anew.pids()
        assert anew.migrate() == []
    finally:
        anew.stop()


def test_what_is_paused_ends_with_its_harness(tmp_path: Path, harness: Harness) -> None:
    """Children of the postmaster write their titles over their environment."""
    running, _guardian = harness("main")
    paused = Database(tmp_path / "cluster").pids()
    assert paused
    guardian.kill(paused, signal.SIGSTOP)
    running.kill()
    running.wait()
    try:
        assert await_true(lambda: all(map(gone, paused))), "processes are left"
    finally:
        guardian.kill(pid for pid in paused if not gone(pid))


def test_a_fresh_one_has_nothing_of_a_cluster_that_a_killed_run_left(tmp_path: Path) -> None:
    left = Database(tmp_path, overrides={"shared_buffers": "16MB"})
    left.start()
    try:
        left.migrate()
        with left.connect() as owner:
            owner.execute("SELECT messages.create_queue('left', 'function')")
    finally:
        left.stop()
    anew = Database(tmp_path, overrides={"shared_buffers": "16MB"})
    with fresh(anew), anew.connect() as owner:
        assert owner.execute("SELECT count(*) FROM messages.queue").fetchone() == (0,)


def test_a_cluster_that_was_only_half_made_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "data.new").mkdir()
    (tmp_path / "data.new" / "PG_VERSION").write_text("18")
    made = Database(tmp_path, overrides={"shared_buffers": "16MB"})
    made.start()
    made.stop()
    assert not (tmp_path / "data.new").exists()
    assert not list(tmp_path.glob("*.word"))
