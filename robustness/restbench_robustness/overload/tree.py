"""A service's processes as the kernel sees them: memory, threads, open files, names, states."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

PERIOD_S = 0.2
_KIB = 1024


@dataclass(frozen=True)
class Tree:
    """One look. Bytes of several processes are PSS: memory they share counts once."""

    names: dict[int, str]
    """Each living process, by its pid."""
    zombies: int
    memory_bytes: int
    threads: int
    files: int
    """Open files, connections included."""

    @property
    def processes(self) -> int:
        """How many live."""
        return len(self.names)

    def pids(self, prefix: str) -> list[int]:
        """The living processes of this name, sorted."""
        return sorted(pid for pid, name in self.names.items() if name.startswith(prefix))


def look(pids: tuple[int, ...]) -> Tree:
    """Processes that end meanwhile are left out."""
    status = {pid: fields for pid in pids if (fields := _status(pid))}
    living = {pid: fields for pid, fields in status.items() if not fields["State"].startswith("Z")}
    memory = _resident if len(living) == 1 else _proportional
    return Tree(
        names={pid: fields["Name"] for pid, fields in living.items()},
        zombies=len(status) - len(living),
        memory_bytes=sum(memory(pid) for pid in living),
        threads=sum(int(fields["Threads"]) for fields in living.values()),
        files=sum(_files(pid) for pid in living),
    )


class Watch:
    """Looks every PERIOD_S from a thread of its own until the block ends; `seen` are the looks."""

    def __init__(self, now: Callable[[], Tree]) -> None:
        """`now` takes one look."""
        self._now = now
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._until_stopped, daemon=True)
        self.seen: list[Tree] = [now()]

    def __enter__(self) -> Self:
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        """Look a last time."""
        self._stop.set()
        self._thread.join()
        self.seen.append(self._now())

    def peak(self, of: Callable[[Tree], int]) -> int:
        """The largest of all looks."""
        return max(of(each) for each in self.seen)

    def _until_stopped(self) -> None:
        while not self._stop.wait(PERIOD_S):
            self.seen.append(self._now())


def lives(process: psutil.Process) -> bool:
    """False for a zombie as well: it has let go of everything, and is its parent's affair."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _status(pid: int) -> dict[str, str]:
    text = read(Path(f"/proc/{pid}/status"))
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: value.strip() for name, _, value in pairs}


def _resident(pid: int) -> int:
    return _kib(Path(f"/proc/{pid}/status"), "VmRSS:")


def _proportional(pid: int) -> int:
    return _kib(Path(f"/proc/{pid}/smaps_rollup"), "Pss:")


def _kib(path: Path, field: str) -> int:
    found = read(path).partition(field)[2].split()
    return int(found[0]) * _KIB if found else 0


def _files(pid: int) -> int:
    with contextlib.suppress(OSError):
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return 0


def read(path: Path) -> str:
    """A file of /proc; empty when its process is gone."""
    with contextlib.suppress(OSError):
        return path.read_text()
    return ""
