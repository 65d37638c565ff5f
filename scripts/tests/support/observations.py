"""What could have been seen of a service's threads."""

from __future__ import annotations

from collections import Counter

from restbench.observe.observe import Observation, Task

MS = 1_000_000


def observation(
    *threads: tuple[int, int, str, int],
    cores: str = "0-1",
    peak: dict[str, int] | None = None,
    reads: dict[int, int] | None = None,
    ended_ms: int = 0,
    made: int = 0,
    alive: dict[str, int] | None = None,
    looks: int = 0,
) -> Observation:
    tasks = {
        tid: Task(pid=pid, tid=tid, name=name, cores=cores, first_cpu_ns=0, last_cpu_ns=ms * MS)
        for pid, tid, name, ms in threads
    }
    return Observation(
        tasks=tasks,
        peak=Counter(peak or {}),
        reads=reads or {},
        ended_cpu_ns=ended_ms * MS,
        threads_made=made,
        alive=Counter(alive or {}),
        looks=Counter(dict.fromkeys(alive or {}, looks)),
    )
