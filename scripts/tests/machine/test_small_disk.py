"""A small disk that can be filled, and that nobody leaves behind."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from waiting import await_true

from restbench.failures import EnvironmentProblem
from restbench.machine import small_disk

#: Mounts one, says where, and is killed.
KILLED = """
import os, signal
from restbench.machine import small_disk
with small_disk.mounted(16) as disk:
    (disk / "file").write_text("there")
    print(disk, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@contextmanager
def disk_of(mib: int) -> Iterator[Path]:
    try:
        with small_disk.mounted(mib) as disk:
            yield disk
    except EnvironmentProblem as error:
        pytest.skip(str(error))


def test_a_full_disk_takes_not_a_byte_and_an_emptied_one_does() -> None:
    with disk_of(16) as disk:
        kept = disk / "kept"
        kept.write_bytes(b"1" * 4096)
        with small_disk.filled(disk):
            with pytest.raises(OSError, match="No space left") as refused:
                (disk / "more").write_bytes(b"1" * 8192)
            assert refused.value.errno == errno.ENOSPC
            assert kept.read_bytes() == b"1" * 4096
        (disk / "more").write_bytes(b"1" * (1 << 20))
    assert not disk.exists()


def test_the_disk_of_a_harness_that_is_killed_goes_with_it() -> None:
    with disk_of(16):
        done = subprocess.run(
            [sys.executable, "-c", KILLED],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"RESTBENCH_LOCK": f"restbench-tests-{os.getpid()}-disk"},
        )
    disk = Path(done.stdout.strip())
    assert disk.name.startswith("restbench-disk-"), done.stderr
    assert await_true(lambda: not disk.exists())
    assert str(disk) not in Path("/proc/mounts").read_text()
