"""What the monitor sees of a real PostgreSQL, by the role that may look at everything and change
nothing."""

from __future__ import annotations

import json
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from zoneinfo import ZoneInfo

import psutil
import psycopg
import pytest
from waiting import PATIENCE_S, await_true

from restbench.deploy.database import Database
from restbench.observe import database as monitor
from restbench.observe.incidents import of_backends, of_postgres
from restbench.store.traces import LOOK_EVERY_S

pytestmark = pytest.mark.live

ROWS = 500
LOOKS = 50


def report(session: psycopg.Connection[Any]) -> None:
    """Count now what a session did; else it counts it when it has ended, which nobody waits for."""
    session.execute("SELECT pg_stat_force_next_flush()")


@pytest.fixture
def server(database: Database) -> Database:
    """Of each version, as what it tells in which place differs; without messages."""
    with database.connect() as owner:
        owner.execute("TRUNCATE messages.message")
        report(owner)
    return database


@pytest.fixture
def connect(server: Database) -> monitor.Connect:
    return partial(server.connect, "monitor")


def as_service(server: Database) -> psycopg.Connection[Any]:
    """With the name by which services are known."""
    return psycopg.connect(
        server.url("service"),
        password=server.password_file("service").read_text().strip(),
        application_name="restbench-java",
        autocommit=True,
    )


def fill(server: Database, rows: int) -> None:
    with server.connect() as owner:
        owner.execute("SELECT messages.create_queue('a', 'skip-locked')")
        owner.execute(
            "INSERT INTO messages.message (queue_id, sender, body) "
            "SELECT q.id, 1, 'text' FROM messages.queue q, generate_series(1, %s) WHERE name = 'a'",
            [rows],
        )
        report(owner)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(each) for each in path.read_text().splitlines()]


def test_samples_count_rows_bytes_log_and_checkpoints(
    server: Database, connect: monitor.Connect, tmp_path: Path
) -> None:
    path = tmp_path / "database.jsonl"
    with monitor.sampled(connect, path, every_s=0.2):
        fill(server, ROWS)
        with server.connect() as owner:
            owner.execute("CHECKPOINT")
            owner.execute("ANALYZE messages.message")
        assert await_true(lambda: len(lines_of(path)) > 2)
    *looks, end = lines_of(path)
    first, last = looks[0], looks[-1]
    assert last["live_rows"] == ROWS
    assert last["analyzes"] >= first["analyzes"]
    assert last["table_bytes"] > 0
    assert last["index_bytes"] > 0
    assert last["wal_records"] > first["wal_records"]
    assert last["wal_syncs"] > first["wal_syncs"]
    assert last["wal_sync_ms"] >= first["wal_sync_ms"]
    assert last["checkpoints"] >= first["checkpoints"] + 1  # one of its own may come between
    assert end["bloat"]["tuple_count"] == ROWS
    assert end["zone"]


def test_a_look_takes_less_than_a_hundredth_of_a_core(connect: monitor.Connect) -> None:
    """Both sides of it, of the seconds between two looks."""
    with closing(connect()) as looking:
        backend = psutil.Process(looking.info.backend_pid)

        def taken_s() -> float:
            its = backend.cpu_times()
            return its.user + its.system + time.thread_time()

        monitor.sample(looking)
        before_s = taken_s()
        for _ in range(LOOKS):
            monitor.sample(looking)
        assert taken_s() - before_s < 0.01 * LOOKS * LOOK_EVERY_S


def test_a_service_that_waits_for_a_lock_and_its_connections_are_seen(
    server: Database, connect: monitor.Connect
) -> None:
    fill(server, 1)
    before = time.time() - 1
    with closing(as_service(server)) as holder, closing(connect()) as looking:
        holder.execute("BEGIN")
        holder.execute("SELECT FROM messages.message FOR UPDATE LIMIT 1")
        found = monitor.sample(looking)
        assert found["waits"] == {"idle in transaction": 1}
        assert len(of_backends([found], before)) == 1
        assert of_backends([found], time.time() + 1) == []
        holder.execute("ROLLBACK")


def test_a_held_snapshot_grows_old_and_keeps_dead_rows(
    server: Database, connect: monitor.Connect
) -> None:
    fill(server, ROWS)
    held: list[tuple[float, float]] = []
    with closing(connect()) as looking:
        with monitor.holding_a_snapshot(connect, 0.0, 600.0, held):
            assert await_true(lambda: monitor.sample(looking)["oldest_snapshot_s"] > 0.5)
            with server.connect() as owner:
                owner.execute("DELETE FROM messages.message")
                owner.execute("VACUUM messages.message")
                kept = owner.execute("SELECT dead_tuple_count FROM pgstattuple('messages.message')")
                assert (kept.fetchone() or [0])[0] >= ROWS
        # A look of the server's own, at any time, has a snapshot too.
        assert await_true(lambda: monitor.sample(looking)["oldest_snapshot_s"] < 0.5)
        assert len(held) == 1
        with server.connect() as owner:

            def is_clean() -> bool:
                owner.execute("VACUUM messages.message")
                left = owner.execute("SELECT dead_tuple_count FROM pgstattuple('messages.message')")
                return (left.fetchone() or [-1])[0] == 0

            assert await_true(is_clean)


def test_a_database_that_is_gone_leaves_a_gap_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "database.jsonl"
    refuses = Mock(side_effect=psycopg.OperationalError("no answer"))
    with monitor.sampled(refuses, path, every_s=0.05):
        assert await_true(path.exists)
    assert path.read_text() == ""


def test_the_servers_own_log_tells_of_its_checkpoints(
    server: Database, connect: monitor.Connect
) -> None:
    with server.connect() as owner:
        owner.execute("CHECKPOINT")
        zone = (owner.execute("SELECT current_setting('log_timezone')").fetchone() or ["UTC"])[0]

    def found() -> bool:
        log = (server.folder / "postgres.log").read_text()
        spans = of_postgres(log, ZoneInfo(zone))
        return any(
            each.kind == "checkpoint" and abs(each.end_s - time.time()) < PATIENCE_S
            for each in spans
        )

    assert await_true(found)
