"""What the operating system sees of a service while it serves: threads, their CPU, their cores.

Everything is read from `/proc/<pid>/task/*`; nothing is asked of the service itself.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from restbench.machine import process
from restbench.machine.alongside import alongside

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
    """At how many looks at least one thread of the family was alive."""
    alive: Counter[str] = field(default_factory=Counter)
    """The family's threads alive, summed over all looks."""
    reads: dict[int, int] = field(default_factory=dict)
    """Read system calls of each process meanwhile."""
    threads_made: int = 0
    """How many thread ids the machine gave out meanwhile: at least those of the service."""
    ended_cpu_ns: float = 0.0
    """CPU time of threads that ended meanwhile: the processes' CPU time minus that of all remaining
    threads. In steps of 10 ms, the resolution of the kernel's value for a process."""

    def family(self, prefix: Prefix) -> list[Task]:
        """The threads whose name starts with the prefix, or with one of several prefixes."""
        return [task for task in self.tasks.values() if task.name.startswith(prefix)]

    def mean_alive(self, prefix: str) -> float:
        """How many of the family were alive on average, over the looks that found any."""
        return self.alive[prefix] / self.looks[prefix] if self.looks[prefix] else 0.0

    def cpu_ns(self, prefixes: Prefix) -> int:
        """CPU time of all threads of these families."""
        return sum(task.cpu_ns for task in self.family(prefixes))

    def share(self, prefix: Prefix, of: tuple[str, ...]) -> float:
        """The family's share of the CPU time of all families in `of`."""
        total = self.cpu_ns(of)
        return self.cpu_ns(prefix) / total if total else 0.0

    def active(self, prefix: Prefix) -> list[int]:
        """Ids of the family's threads that took part."""
        total = self.cpu_ns(prefix)
        return [t.tid for t in self.family(prefix) if total and t.cpu_ns / total >= PART]


@contextmanager
def watched(pids: tuple[int, ...], families: tuple[str, ...]) -> Iterator[Observation]:
    """Look at processes repeatedly, in another thread, while the context lasts: the observation is
    complete at its end. The threads of `families`, name prefixes, are counted. Processes that
    start later are not watched."""
    seen = Observation()
    first_reads = {pid: _read_calls(pid) for pid in pids}
    first_cpu_ms, first_id = process.cpu_ms(pids), _last_id()
    _look(seen, pids, families, refresh=True)
    for task in seen.tasks.values():  # of a thread that starts later, all CPU time counts
        task.first_cpu_ns = task.last_cpu_ns

    def look(stopped: threading.Event) -> None:
        while not stopped.is_set():
            _look(seen, pids, families, refresh=False)
            time.sleep(PAUSE_S)

    with alongside(look):
        yield seen
    _look(seen, pids, families, refresh=True)
    seen.reads = {pid: _read_calls(pid) - count for pid, count in first_reads.items()}
    largest_id = int(Path("/proc/sys/kernel/pid_max").read_text())
    seen.threads_made = (_last_id() - first_id) % largest_id
    used_ns = (process.cpu_ms(pids) - first_cpu_ms) * 1_000_000
    left = {tid for pid in pids for tid in _thread_ids(pid)}
    left_ns = sum(task.cpu_ns for tid, task in seen.tasks.items() if tid in left)
    seen.ended_cpu_ns = max(0.0, used_ns - left_ns)


def threads(pids: tuple[int, ...], family: str) -> dict[int, int]:
    """By thread id: the CPU time so far, in nanoseconds, of the threads of one family."""
    seen = Observation()
    _look(seen, pids, (family,), refresh=True)
    return {task.tid: task.last_cpu_ns for task in seen.family(family)}


def _look(
    seen: Observation, pids: tuple[int, ...], families: tuple[str, ...], *, refresh: bool
) -> None:
    alive: Counter[str] = Counter()
    for pid in pids:
        for tid in _thread_ids(pid):
            task = seen.tasks.get(tid)
            # A thread names itself a moment after it starts: short-lived ones are read anew.
            if refresh or task is None or not task.name.startswith(families):
                with contextlib.suppress(OSError, ValueError, IndexError):  # it is gone
                    task = _read_task(pid, tid, task.first_cpu_ns if task else 0)
                    seen.tasks[tid] = task
            if task is not None:
                alive.update(each for each in families if task.name.startswith(each))
    seen.peak |= alive
    seen.alive += alive
    seen.looks += Counter(alive.keys())


def _thread_ids(pid: int) -> list[int]:
    try:
        return [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def _read_task(pid: int, tid: int, first_cpu_ns: int) -> Task:
    folder = Path(f"/proc/{pid}/task/{tid}")
    status = (folder / "status").read_text()
    return Task(
        pid=pid,
        tid=tid,
        name=_field(status, "Name"),
        cores=_field(status, "Cpus_allowed_list"),
        first_cpu_ns=first_cpu_ns,
        last_cpu_ns=int((folder / "schedstat").read_text().split()[0]),
    )


def _field(status: str, name: str) -> str:
    return status.partition(f"{name}:\t")[2].partition("\n")[0]


def _last_id() -> int:
    """The last process or thread id that was given out (the last field of /proc/loadavg)."""
    return int(Path("/proc/loadavg").read_text().split()[-1])


def _read_calls(pid: int) -> int:
    return sum(process.field_sums((pid,), "io", ("syscr",)) or ())
