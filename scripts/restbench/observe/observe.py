"""What the operating system sees of a service while it serves: threads, their CPU, their cores.

Everything is read from `/proc/<pid>/task/*`; nothing is asked of the service itself.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from restbench.machine import process

#: A pause between two looks, so that looking does not take a whole core from the service.
PAUSE_S = 0.0005
#: A family of threads "did the work" when it used at least this share of the workers' CPU time.
MOST = 0.7
#: A thread "took part" when it used at least this share of its family's CPU time.
PART = 0.05
Prefix = str | tuple[str, ...]


@dataclass
class Task:
    """One thread of the service. `cpu_ns` is what it used while it was watched."""

    pid: int
    tid: int
    name: str
    cores: str
    first_cpu_ns: int
    last_cpu_ns: int

    @property
    def cpu_ns(self) -> int:
        """CPU time used between the first and the last look, nanoseconds."""
        return self.last_cpu_ns - self.first_cpu_ns


@dataclass
class Observation:
    """Everything seen between two moments."""

    tasks: dict[int, Task] = field(default_factory=dict)
    peak: Counter[str] = field(default_factory=Counter)
    """The largest number of threads of each family alive at one look."""
    looks: Counter[str] = field(default_factory=Counter)
    """How often at least one of the family was alive at a look."""
    alive: Counter[str] = field(default_factory=Counter)
    """The family's threads alive, summed over all looks."""
    reads: dict[int, int] = field(default_factory=dict)
    """Read system calls of each process meanwhile."""
    threads_made: int = 0
    """How far the machine's thread ids went on: at least the threads that the service made."""
    ended_cpu_ns: float = 0.0
    """CPU time of threads that ended meanwhile: the processes' minus that of all threads that are
    left. In steps of 10 ms, as the kernel tells a process's time."""

    def family(self, prefix: Prefix) -> list[Task]:
        """The threads whose name starts with the prefix, or with one of them."""
        return [task for task in self.tasks.values() if task.name.startswith(prefix)]

    def mean_alive(self, prefix: str) -> float:
        """How many of the family were alive on average, over the looks that met any."""
        return self.alive[prefix] / self.looks[prefix] if self.looks[prefix] else 0.0

    def cpu_ns(self, prefixes: Prefix) -> int:
        """CPU time of all threads of these families."""
        return sum(task.cpu_ns for task in self.tasks.values() if task.name.startswith(prefixes))

    def share(self, prefix: Prefix, of: tuple[str, ...]) -> float:
        """The family's part of the CPU time of all of these."""
        total = self.cpu_ns(of)
        return self.cpu_ns(prefix) / total if total else 0.0

    def active(self, prefix: Prefix) -> list[int]:
        """Ids of the family's threads that took part."""
        total = self.cpu_ns(prefix)
        return [t.tid for t in self.family(prefix) if total and t.cpu_ns / total >= PART]


class Watch:
    """Looks at processes again and again from a thread of its own, until the block ends.

    `families` are the name prefixes whose peak numbers are counted.
    """

    def __init__(self, pids: Callable[[], tuple[int, ...]], families: tuple[str, ...]) -> None:
        """`pids` are asked once; processes that start later are not watched."""
        self._pids = pids()
        self._families = families
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look_until_stopped, daemon=True)
        self._first_reads: dict[int, int] = {}
        self._first_cpu_ms = 0.0
        self._first_id = 0
        self.seen = Observation()

    def __enter__(self) -> Self:
        """Begin to look."""
        self._first_reads = {pid: _read_calls(pid) for pid in self._pids}
        self._first_cpu_ms = process.cpu_ms(self._pids)
        self._first_id = _last_id()
        self._look(refresh=True)
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        """Look a last time; `seen` is complete then."""
        self._stop.set()
        self._thread.join()
        self._look(refresh=True)
        self.seen.reads = {pid: _read_calls(pid) - n for pid, n in self._first_reads.items()}
        self.seen.threads_made = (_last_id() - self._first_id) % _largest_id()
        used_ns = (process.cpu_ms(self._pids) - self._first_cpu_ms) * 1_000_000
        left = {tid for pid in self._pids for tid in _thread_ids(pid)}
        left_ns = sum(task.cpu_ns for tid, task in self.seen.tasks.items() if tid in left)
        self.seen.ended_cpu_ns = max(0.0, used_ns - left_ns)

    def _look_until_stopped(self) -> None:
        while not self._stop.is_set():
            self._look(refresh=False)
            time.sleep(PAUSE_S)

    def _look(self, *, refresh: bool) -> None:
        alive: Counter[str] = Counter()
        for pid in self._pids:
            for tid in _thread_ids(pid):
                task = self._meet(pid, tid, refresh=refresh)
                if task is not None:
                    alive.update(p for p in self._families if task.name.startswith(p))
        self.seen.peak |= alive
        self.seen.alive += alive
        self.seen.looks += Counter(alive.keys())

    def _meet(self, pid: int, tid: int, *, refresh: bool) -> Task | None:
        known = self.seen.tasks.get(tid)
        # A thread gives itself its name a moment after it starts: short-lived ones are read anew.
        if known is not None and not refresh and known.name.startswith(self._families):
            return known
        try:
            now = _read_task(pid, tid)
        except (OSError, ValueError):
            return known
        if known is not None:
            known.name, known.cores, known.last_cpu_ns = now.name, now.cores, now.last_cpu_ns
            return known
        if self._thread.is_alive():
            now.first_cpu_ns = 0  # born while we watched: all its CPU time counts
        self.seen.tasks[tid] = now
        return now


def _thread_ids(pid: int) -> list[int]:
    try:
        return [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def _read_task(pid: int, tid: int) -> Task:
    folder = Path(f"/proc/{pid}/task/{tid}")
    status = (folder / "status").read_text()
    cpu_ns = int((folder / "schedstat").read_text().split()[0])
    return Task(
        pid=pid,
        tid=tid,
        name=_field(status, "Name"),
        cores=_field(status, "Cpus_allowed_list"),
        first_cpu_ns=cpu_ns,
        last_cpu_ns=cpu_ns,
    )


def _field(status: str, name: str) -> str:
    return status.partition(f"{name}:\t")[2].partition("\n")[0]


def _last_id() -> int:
    """The last process or thread id that was given out (the last field of /proc/loadavg)."""
    return int(Path("/proc/loadavg").read_text().split()[-1])


def _largest_id() -> int:
    return int(Path("/proc/sys/kernel/pid_max").read_text())


def _read_calls(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/io").read_text().partition("syscr: ")[2].split()[0])
    except OSError:
        return 0
