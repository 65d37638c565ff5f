"""What the database reports of itself under load: one JSON object per line, every few seconds.

Counts are those since its statistics were reset, times in milliseconds. A value that moved from one
view to another is read from the view of the server's version. A moment without an answer has no
line.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString, TypeAlias

import psycopg
from psycopg.rows import DictRow, dict_row

from restbench.failures import EnvironmentProblem
from restbench.machine.alongside import alongside
from restbench.store.traces import LOOK_EVERY_S

#: The PostgreSQL versions (`server_version`) in which values moved to another view.
_CHECKPOINTER, _WAL_IO = 170000, 180000

Connect: TypeAlias = Callable[[], psycopg.Connection[Any]]

_TABLE: LiteralString = """
SELECT n_live_tup AS live_rows, n_dead_tup AS dead_rows,
  vacuum_count + autovacuum_count AS vacuums, analyze_count + autoanalyze_count AS analyzes,
  pg_table_size(relid) AS table_bytes, pg_indexes_size(relid) AS index_bytes
FROM pg_stat_user_tables WHERE schemaname = 'messages' AND relname = 'message'
"""
_WAL: LiteralString = """
SELECT wal_records, wal_bytes::float8 AS wal_bytes, wal_sync AS wal_syncs,
  wal_sync_time AS wal_sync_ms FROM pg_stat_wal
"""
_WAL_18: LiteralString = """
SELECT wal_records, wal_bytes::float8 AS wal_bytes, fsyncs::bigint AS wal_syncs,
  fsync_time AS wal_sync_ms
FROM pg_stat_wal, (SELECT sum(fsyncs) AS fsyncs, sum(fsync_time) AS fsync_time
  FROM pg_stat_io WHERE object = 'wal') AS io
"""
_CHECKPOINTS: LiteralString = (
    "SELECT checkpoints_timed + checkpoints_req AS checkpoints FROM pg_stat_bgwriter"
)
_CHECKPOINTS_17: LiteralString = (
    "SELECT num_timed + num_requested AS checkpoints FROM pg_stat_checkpointer"
)
#: What the services' backends wait for; an active backend that waits for nothing is on a CPU.
_WAITS: LiteralString = """
SELECT CASE WHEN state <> 'active' THEN state ELSE coalesce(wait_event_type || ':' || wait_event,
  'CPU') END AS event, count(*) AS backends
FROM pg_stat_activity
WHERE application_name LIKE 'restbench-%' AND state IS NOT NULL AND state <> 'idle' GROUP BY 1
"""
_BEGUN: LiteralString = """
SELECT extract(epoch FROM backend_start)::float8 AS at FROM pg_stat_activity
WHERE application_name LIKE 'restbench-%' ORDER BY 1
"""
_OLDEST: LiteralString = """
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8
  AS oldest_snapshot_s, coalesce(max(age(backend_xmin)), 0) AS oldest_snapshot_xids
FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
"""
_BLOAT: LiteralString = """
SELECT table_len, tuple_count, dead_tuple_count, tuple_percent, dead_tuple_percent, free_percent
FROM public.pgstattuple('messages.message')
"""
_ZONE: LiteralString = "SELECT current_setting('log_timezone') AS zone"


def sample(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    """What the database reports now; without the message table where it is not created yet."""
    version = connection.info.server_version
    with connection.cursor(row_factory=dict_row) as cursor:
        found: dict[str, Any] = {"t_ms": round(1000 * time.time())}
        for query in (
            _TABLE,
            _WAL_18 if version >= _WAL_IO else _WAL,
            _CHECKPOINTS_17 if version >= _CHECKPOINTER else _CHECKPOINTS,
            _OLDEST,
        ):
            found |= next(iter(_rows(cursor, query)), {})
        found["waits"] = {each["event"]: each["backends"] for each in _rows(cursor, _WAITS)}
        found["backends_begun_s"] = [each["at"] for each in _rows(cursor, _BEGUN)]
    return found


def _rows(cursor: psycopg.Cursor[DictRow], query: LiteralString) -> list[DictRow]:
    return cursor.execute(query).fetchall()


@contextmanager
def sampled(connect: Connect, path: Path, every_s: float = LOOK_EVERY_S) -> Iterator[None]:
    """Write a sample every `every_s` seconds, the first at once. After the last one, write the time
    zone of the server's log and the table's dead and free space (`pgstattuple`, a full scan)."""

    def watch(stopped: threading.Event) -> None:
        connection: psycopg.Connection[Any] | None = None
        begun = time.monotonic()
        with path.open("w", encoding="utf-8") as output:
            for number in itertools.count(1):
                is_last = stopped.is_set()
                with contextlib.suppress(psycopg.Error, EnvironmentProblem):
                    if connection is None or connection.closed:
                        connection = connect()
                    output.write(json.dumps(sample(connection)) + "\n")
                    if is_last:
                        output.write(json.dumps(_at_the_end(connection)) + "\n")
                if is_last:
                    break
                stopped.wait(max(0.0, begun + number * every_s - time.monotonic()))
        if connection is not None:
            connection.close()

    with alongside(watch):
        yield


def _at_the_end(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    with connection.cursor(row_factory=dict_row) as cursor:
        found: dict[str, Any] = dict(_rows(cursor, _ZONE)[0])
        with contextlib.suppress(psycopg.Error):  # another's server may lack the extension
            found["bloat"] = _rows(cursor, _BLOAT)[0]
    return found


@contextmanager
def holding_a_snapshot(
    connect: Connect, begin_s: float, end_s: float, held: list[tuple[float, float]]
) -> Iterator[None]:
    """Hold a transaction with a snapshot open from `begin_s` to `end_s`, in seconds from now.
    `held` gets both moments, in seconds since the epoch; nothing where that was not possible."""

    def hold(stopped: threading.Event) -> None:
        if stopped.wait(begin_s):
            return
        with (
            contextlib.suppress(psycopg.Error, EnvironmentProblem),
            contextlib.closing(connect()) as connection,
        ):
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            connection.execute("SELECT pg_current_snapshot()")
            begun = time.time()
            stopped.wait(end_s - begin_s)
            connection.execute("ROLLBACK")
            held.append((begun, time.time()))

    with alongside(hold):
        yield
