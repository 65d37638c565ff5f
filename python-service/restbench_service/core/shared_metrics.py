"""The numbers at /metrics where several workers serve: their sum, from any of them.

By prometheus_client's multiprocess mode: each worker keeps its numbers in files of a folder that
all of them read. What one has counted stays counted when it has ended; what it held does not.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Metric,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from ..metrics_folder import VARIABLE
from ..process import is_worker, worker_pids
from .metrics import Metrics

_SUMMED = (
    "process_virtual_memory_bytes",
    "process_resident_memory_bytes",
    "process_cpu_seconds",
    "process_open_fds",
)
"""Of the figures of a process, those whose sum says something."""


class SharedMetrics(Metrics):
    """Of a service with several workers, of which this process is one."""

    def __init__(self) -> None:
        """The folder exists."""
        super().__init__(None)  # what is counted is in the files
        self._folder = Path(os.environ[VARIABLE])
        self._registry = CollectorRegistry()
        PlatformCollector(registry=self._registry)
        MultiProcessCollector(self._registry)  # type: ignore[no-untyped-call]
        self._registry.register(_Workers())
        self._decided = Counter(
            "restbench_decisions",
            "Requests by where a strategy that chooses has handled them.",
            ["strategy", "decision"],
            registry=None,
        )
        self._guard = Lock()
        self._kept: list[_Kept] = []

    def show(self, name: str, text: str, value: Callable[[], float]) -> Callable[[float], None]:
        """See Metrics; the value is asked once, then it is reported."""
        gauge = Gauge(name, text, registry=None, multiprocess_mode="livesum")
        gauge.set(value())
        return gauge.set

    def show_decisions(self, strategy: str, counts: Callable[[], Mapping[str, int]]) -> None:
        """See Metrics; they are written when a request is answered."""
        for name in counts():
            counter = self._decided.labels(strategy, name)
            self._kept.append(_Kept(counter, partial(_one_of, counts, name)))

    def show_count(self, name: str, text: str, count: Callable[[], int]) -> None:
        """See Metrics; it is written when a request is answered."""
        self._kept.append(_Kept(Counter(name, text, registry=None), count))

    def count(self, workload: str, strategy: str, status: int) -> None:
        """See Metrics."""
        super().count(workload, strategy, status)
        with self._guard:
            for kept in self._kept:
                kept.write()

    def text(self) -> bytes:
        """See Metrics."""
        self._forget_the_dead()
        return generate_latest(self._registry)

    def _forget_the_dead(self) -> None:
        """What they had in flight."""
        for path in self._folder.glob("gauge_live*.db"):
            pid = int(path.stem.rpartition("_")[2])
            if not is_worker(pid):
                with suppress(FileNotFoundError):  # another worker is asked at the same time
                    mark_process_dead(pid, str(self._folder))  # type: ignore[no-untyped-call]


def _one_of(counts: Callable[[], Mapping[str, int]], name: str) -> int:
    return counts()[name]


class _Kept:
    """One counter that is kept elsewhere."""

    def __init__(self, counter: Counter, count: Callable[[], int]) -> None:
        self._counter, self._count, self._written = counter, count, 0

    def write(self) -> None:
        count = self._count()
        if count > self._written:
            self._counter.inc(count - self._written)
            self._written = count


class _Workers(Collector):
    """Memory, CPU time and open files of all workers."""

    def collect(self) -> Iterator[Metric]:
        """As prometheus_client asks for them."""
        sums: dict[str, Metric] = {}
        for pid in worker_pids():
            for family in ProcessCollector(pid=partial(int, pid), registry=None).collect():
                if family.name in sums:
                    sums[family.name].samples = [
                        one._replace(value=one.value + other.value)
                        for one, other in zip(
                            sums[family.name].samples, family.samples, strict=True
                        )
                    ]
                elif family.name in _SUMMED:
                    sums[family.name] = family
        yield from sums.values()
