"""What a database takes: its processes by the kernel's word, its log by its own."""

from __future__ import annotations

import mmap
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias
from unittest.mock import Mock

import psycopg
import pytest
from other_process import beside, line_of

from restbench.machine import process
from restbench.observe import resources

IO = "rchar: {}\nwchar: {}\nsyscr: 9\nread_bytes: 9\nwrite_bytes: 9\ncancelled_write_bytes: 9\n"
ROLLUP = "00400000-7fff [rollup]\nRss: 9000 kB\nPss: {} kB\nPss_Dirty: 7 kB\nPss_Anon: 5 kB\n"
#: Numbers that no process has.
ONE, TWO, NONE = 100_000_001, 100_000_002, 100_000_003
SHARED_MIB = 64
MAPS = (
    "import mmap, sys; file = open(sys.argv[1], 'rb');"
    "kept = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ);"
    "sum(kept[at] for at in range(0, len(kept), mmap.PAGESIZE));"
    "print('mapped', flush=True); sys.stdin.read()"
)


#: Lays down a file of a process.
Tell: TypeAlias = Callable[[int, str, str], None]


def owner(*ends_kib: float) -> Mock:
    """Of a database whose log ends where it is said, and that is gone then."""
    made = Mock()
    ends: list[object] = [[(each,)] for each in ends_kib]
    made.execute.return_value.fetchall.side_effect = [*ends, psycopg.OperationalError("gone")]
    return made


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tell:
    monkeypatch.setattr(process, "PROC", tmp_path)

    def write(pid: int, file: str, text: str) -> None:
        (tmp_path / str(pid)).mkdir(exist_ok=True)
        (tmp_path / str(pid) / file).write_text(text)

    return write


def test_memory_and_io_are_sums_over_the_processes_that_are_there(told: Tell) -> None:
    for pid, number in ((ONE, 1), (TWO, 2)):
        told(pid, "smaps_rollup", ROLLUP.format(1024 * number))
        told(pid, "io", IO.format(2048 * number, 1024 * number))
    assert resources.memory_mib((ONE, TWO, NONE)) == 3
    assert resources.taken((ONE, TWO, NONE), owner(7.5)) == {
        "cpu_ms": 0.0,
        "wal_kib": 7.5,
        "read_kib": 6.0,
        "written_kib": 3.0,
    }


def test_what_the_kernel_does_not_tell_is_absent_and_no_zero(
    told: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert resources.memory_mib((NONE,)) is None
    assert resources.taken((NONE,), owner(1.0)) == {"cpu_ms": 0.0, "wal_kib": 1.0}

    told(ONE, "smaps_rollup", ROLLUP.format(1024))
    assert resources.memory_mib((ONE,)) == 1
    monkeypatch.setattr(process, "read", Mock(side_effect=PermissionError))
    assert resources.memory_mib((ONE,)) is None


def test_a_meter_counts_from_its_begin_on(told: Tell) -> None:
    told(ONE, "io", IO.format(0, 1024))
    before_ms = 1000 * time.time()
    meter = resources.Meter(lambda: (ONE,), owner(10.0, 30.0), 0.2)
    meter._begun.result()
    told(ONE, "io", IO.format(4096, 3072))
    since_ms, used = meter.used()
    assert since_ms >= before_ms + 150
    assert used == {"cpu_ms": 0.0, "wal_kib": 20.0, "read_kib": 4.0, "written_kib": 2.0}


def test_a_meter_begins_when_it_reads_the_cpu_time(told: Tell) -> None:
    """Not when it looks for the processes, nor when it asks for the end of the log."""
    told(ONE, "io", IO.format(0, 0))

    def found() -> tuple[int, ...]:
        time.sleep(0.2)
        return (ONE,)

    connection = owner(1.0, 2.0)
    connection.execute = Mock(
        side_effect=lambda _: time.sleep(0.2) or Mock(fetchall=lambda: [(1.0,)])
    )
    before_ms = 1000 * time.time()
    since_ms, _ = resources.Meter(found, connection, 0.0).used()
    assert before_ms + 200 <= since_ms
    assert since_ms + 200 <= 1000 * time.time()


def test_a_database_that_does_not_answer_its_meter_is_an_error_of_who_asks_it() -> None:
    meter = resources.Meter(lambda: (), owner(), 0.0)
    with pytest.raises(psycopg.OperationalError):
        meter.used()


def test_a_page_that_processes_share_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    path.write_bytes(b"x" * (SHARED_MIB << 20))
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as kept,
        beside(MAPS, str(path)) as other,
    ):
        assert line_of(other) == "mapped"
        assert sum(kept[at] for at in range(0, len(kept), mmap.PAGESIZE))
        both = (os.getpid(), other.pid)
        apart_mib = sum(map(process.resident_mib, both))
        together_mib = resources.memory_mib(both)
    assert SHARED_MIB < together_mib < apart_mib - 0.9 * SHARED_MIB


def test_io_of_a_child_that_has_ended_is_its_parents() -> None:
    """As with backends and the postmaster."""
    script = "head -c 1000000 /dev/zero >/dev/null; echo done; read line"
    line = ["sh", "-c", script]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"done\n"
        found = process.field_sums((parent.pid,), "io", ("wchar",))
        parent.stdin.close()
    assert found is not None and found[0] >= 1_000_000
