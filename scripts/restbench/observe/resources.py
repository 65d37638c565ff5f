"""What a database takes of its machine: CPU time, memory, what its processes read from files and
write to them, and how much its write-ahead log grows.

Its processes come and go. What a backend took that has ended is the postmaster's, which waited for
it: the kernel adds CPU time and I/O of such children to their parent's. I/O is that of calls, be it
from the kernel's cache. `write_bytes` would be the storage's, but counts whole folios: with ext4 on
Linux 6.18 a hundred times what is written, as each commit writes a little and syncs.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, LiteralString, TypeAlias

import psycopg

from restbench.machine import process

Pids: TypeAlias = Callable[[], tuple[int, ...]]
"""Of all processes of a database now."""
Connection: TypeAlias = psycopg.Connection[Any]

PROC = Path("/proc")
#: Where the log ends now. `pg_stat_wal` knows up to a second later, which may be another trial's.
_WAL: LiteralString = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 / 1024"


def taken(pids: Pids, connection: Connection) -> dict[str, float]:
    """Since it was started: `cpu_ms`, `wal_kib`, and where the kernel tells them `read_kib` and
    `written_kib`."""
    ((wal_kib,),) = connection.execute(_WAL).fetchall()
    now = pids()
    found = {"cpu_ms": process.cpu_ms(now, with_ended_children=True), "wal_kib": float(wal_kib)}
    if told := field_sums(now, "io", ("rchar", "wchar")):
        found["read_kib"], found["written_kib"] = (each / 1024 for each in told)
    return found


def memory_mib(pids: Sequence[int]) -> float | None:
    """Proportional set size: a page is divided among the processes that share it, so that all of
    the shared buffers count once. None where the kernel does not tell."""
    told = field_sums(pids, "smaps_rollup", ("Pss",))
    return told[0] / 1024 if told else None


def field_sums(pids: Sequence[int], file: str, fields: Sequence[str]) -> list[int] | None:
    """The sums of these fields (`NAME: NUMBER`) of a file in `/proc/PID`; processes that are gone
    are left out. None where nothing is told, or not to us."""
    texts = []
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            try:
                texts.append((PROC / str(pid) / file).read_text())
            except PermissionError:
                return None
    if not texts:
        return None
    whole = "\n".join(texts)
    return [sum(map(int, re.findall(rf"^{name}:\s+(\d+)", whole, re.MULTILINE))) for name in fields]


class Meter:
    """What a database takes from a moment of its load on. It begins where what is measured does:
    every connection has first to plan its statements for tables that were just filled."""

    def __init__(self, pids: Pids, connection: Connection, wait_s: float) -> None:
        """It counts from so many seconds from now on."""
        self._pids, self._connection = pids, connection
        looking = ThreadPoolExecutor(1)
        self._begun = looking.submit(self._look, wait_s)
        looking.shutdown(wait=False)

    def _look(self, wait_s: float) -> tuple[float, dict[str, float]]:
        time.sleep(wait_s)
        return 1000 * time.time(), taken(self._pids, self._connection)

    def used(self) -> tuple[float, dict[str, float]]:
        """When it began, in milliseconds since the epoch, and what was `taken` until now."""
        since_ms, before = self._begun.result()
        now = taken(self._pids, self._connection)
        return since_ms, {name: now[name] - before[name] for name in before if name in now}
