"""What a database uses of its machine: CPU time, memory, file I/O of its processes, and the growth
of its write-ahead log.

A database's processes come and go. The kernel adds the CPU time and I/O of a backend that has ended
to the postmaster, which waited for it. I/O counts the bytes of system calls, also those that the
kernel's cache serves. `write_bytes` would count the storage's, but in whole folios: with ext4 on
Linux 6.18 a hundred times what is written, as each commit writes a little and syncs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, LiteralString, TypeAlias

import psycopg

from restbench.machine import process

Connection: TypeAlias = psycopg.Connection[Any]

#: The log's end now, in KiB. `pg_stat_wal` is up to a second late, which may be in another trial.
_WAL: LiteralString = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 / 1024"


def taken(pids: Sequence[int], connection: Connection) -> dict[str, float]:
    """What a database with these processes has used since its start: first of all `cpu_ms`, then
    `wal_kib` and, where the kernel reports them, `read_kib` and `written_kib`."""
    found = {"cpu_ms": process.cpu_ms(pids, with_ended_children=True)}
    ((wal_kib,),) = connection.execute(_WAL).fetchall()
    found["wal_kib"] = float(wal_kib)
    if reported := process.field_sums(pids, "io", ("rchar", "wchar")):
        found["read_kib"], found["written_kib"] = (each / 1024 for each in reported)
    return found


def memory_mib(pids: Sequence[int]) -> float | None:
    """Proportional set size: a page is divided among the processes that share it, so that all of
    the shared buffers count once. None where the kernel does not report it."""
    reported = process.field_sums(pids, "smaps_rollup", ("Pss",))
    return reported[0] / 1024 if reported else None


class Meter:
    """Measures what a database uses from a moment of its load on, when the measured time begins:
    before it, connections plan their statements for tables just filled."""

    def __init__(
        self, pids: Callable[[], tuple[int, ...]], connection: Connection, wait_s: float
    ) -> None:
        """Start counting `wait_s` seconds from now; `pids` gives a database's processes."""
        self._pids, self._connection = pids, connection
        looking = ThreadPoolExecutor(1)
        self._begun = looking.submit(self._look, wait_s)
        looking.shutdown(wait=False)

    def _look(self, wait_s: float) -> tuple[float, dict[str, float]]:
        time.sleep(wait_s)
        pids = self._pids()
        return 1000 * time.time(), taken(pids, self._connection)

    def used(self) -> tuple[float, dict[str, float]]:
        """When counting began, in milliseconds since the epoch, and what was `taken` since then."""
        since_ms, before = self._begun.result()
        now = taken(self._pids(), self._connection)
        return since_ms, {name: now[name] - before[name] for name in before if name in now}
