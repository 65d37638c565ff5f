"""The numbers at /metrics: of one process, or of all workers of a service, from any of them."""

import os
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Metric,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from ..metrics_folder import VARIABLE
from ..process import is_worker, worker_pids

Counts = Callable[[], Mapping[tuple[str, ...], int]]
"""Numbers that only grow, by the values of their labels."""
_SUMMED = (
    "process_virtual_memory_bytes",
    "process_resident_memory_bytes",
    "process_cpu_seconds",
    "process_open_fds",
)
"""Of the figures of a process, those whose sum says something."""
LONGEST_BEGIN_SECONDS, LOOK_SECONDS = 1.0, 0.01
"""A file that a worker is just making is empty for a moment, and cannot be read so long."""


def unseen(_: float) -> None:
    """For a gauge that is asked: what changes need not be reported."""


class Metrics(ABC):
    """Requests by workload, strategy and status, those in flight, and the figures of what serves.

    The pools' processes are seen in /proc, not here.
    """

    _registry: CollectorRegistry

    def __init__(self, registry: CollectorRegistry | None) -> None:
        """Where the count of requests is shown; others are added by show()."""
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._requests = Counter(
            "restbench_requests",
            "Requests answered.",
            ["workload", "strategy", "status"],
            registry=registry,
        )
        self._counters: dict[tuple[str, ...], Counter] = {}

    @abstractmethod
    def show(self, name: str, text: str, value: Callable[[], float]) -> Callable[[float], None]:
        """A gauge. Returns what is to be called with each new value."""

    @abstractmethod
    def show_counts(self, name: str, text: str, labels: tuple[str, ...], counts: Counts) -> None:
        """A counter that is kept elsewhere, with the names of its labels; each of its values is
        there from the start.
        """

    def count(self, workload: str, strategy: str, status: int) -> None:
        """One request was answered."""
        labels = (workload, strategy, str(status))
        counter = self._counters.get(labels)
        if counter is None:  # two threads may both ask: it is the same one
            counter = self._counters[labels] = self._requests.labels(*labels)
        counter.inc()

    def text(self) -> bytes:
        """All metrics in Prometheus text format."""
        return generate_latest(self._registry)


class OwnMetrics(Metrics):
    """Of a service whose only worker is this process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        super().__init__(self._registry)

    def show(self, name: str, text: str, value: Callable[[], float]) -> Callable[[float], None]:
        """See Metrics; the value is asked at each scrape."""
        Gauge(name, text, registry=self._registry).set_function(value)
        return unseen

    def show_counts(self, name: str, text: str, labels: tuple[str, ...], counts: Counts) -> None:
        """See Metrics; they are asked at each scrape."""
        self._registry.register(_ExternalCounter(name, text, labels, counts))


class _ExternalCounter(Collector):
    """One counter that is kept elsewhere."""

    def __init__(self, name: str, text: str, labels: tuple[str, ...], counts: Counts) -> None:
        self._name, self._text, self._labels, self._counts = name, text, labels, counts

    def collect(self) -> Iterator[CounterMetricFamily]:
        """As prometheus_client asks for it."""
        family = CounterMetricFamily(self._name, self._text, labels=self._labels)
        for values, count in self._counts().items():
            family.add_metric(values, count)
        yield family


class SharedMetrics(Metrics):
    """Of a service with several workers, of which this process is one: their sum.

    By prometheus_client's multiprocess mode: each worker keeps its numbers in files of a folder
    that all of them read. What one has counted stays counted when it has ended; what it held does
    not.
    """

    def __init__(self) -> None:
        """The folder exists."""
        super().__init__(None)  # what is counted is in the files
        self._folder = Path(os.environ[VARIABLE])
        self._registry = CollectorRegistry()
        PlatformCollector(registry=self._registry)
        MultiProcessCollector(self._registry)  # type: ignore[no-untyped-call]
        self._registry.register(_Workers())
        self._guard = Lock()
        self._kept: list[_CounterCopy] = []

    def show(self, name: str, text: str, value: Callable[[], float]) -> Callable[[float], None]:
        """See Metrics; the value is asked once, then it is reported."""
        gauge = Gauge(name, text, registry=None, multiprocess_mode="livesum")
        gauge.set(value())
        return gauge.set

    def show_counts(self, name: str, text: str, labels: tuple[str, ...], counts: Counts) -> None:
        """See Metrics; they are written when a request is answered."""
        counter = Counter(name, text, labels, registry=None)
        if values := counts().keys():
            self._kept.append(_CounterCopy(counter, values, counts))

    def count(self, workload: str, strategy: str, status: int) -> None:
        """See Metrics."""
        super().count(workload, strategy, status)
        with self._guard:
            for kept in self._kept:
                kept.write()

    def text(self) -> bytes:
        """See Metrics."""
        deadline = time.monotonic() + LONGEST_BEGIN_SECONDS
        while True:
            self._forget_the_dead()
            try:
                return super().text()
            except struct.error:
                if time.monotonic() > deadline:
                    raise
                time.sleep(LOOK_SECONDS)

    def _forget_the_dead(self) -> None:
        """What they had in flight, and a file that one of them was just making."""
        for path in self._folder.glob("*.db"):
            pid = int(path.stem.rpartition("_")[2])
            is_live_gauge = path.name.startswith("gauge_live")
            with suppress(FileNotFoundError):  # another worker is asked at the same time
                if (is_live_gauge or not path.stat().st_size) and not is_worker(pid):
                    path.unlink()


class _CounterCopy:
    """One counter that is kept elsewhere, as it was when it was written."""

    def __init__(
        self, counter: Counter, values: Collection[tuple[str, ...]], counts: Counts
    ) -> None:
        self._counters = {each: counter.labels(*each) if each else counter for each in values}
        self._counts, self._written = counts, dict.fromkeys(values, 0)

    def write(self) -> None:
        for values, count in self._counts().items():
            if count > self._written[values]:
                self._counters[values].inc(count - self._written[values])
                self._written[values] = count


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
