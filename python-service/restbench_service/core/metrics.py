"""The metrics at /metrics: of one process, or, from any worker, of all workers of a service."""

import os
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
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
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from ..process import METRICS_VARIABLE, is_worker, worker_pids

Counts = Callable[[], Mapping[tuple[str, ...], int]]
"""Returns the values of a counter, which only grow, by label values."""
_SUMMED = (
    "process_virtual_memory_bytes",
    "process_resident_memory_bytes",
    "process_cpu_seconds",
    "process_open_fds",
)
"""The process metrics whose sum over all workers is meaningful."""
LONGEST_BEGIN_SECONDS, LOOK_SECONDS = 1.0, 0.01
"""A metrics file that a worker is just creating is empty and unreadable: a scrape tries again for
LONGEST_BEGIN_SECONDS, every LOOK_SECONDS."""


def unseen(_: float) -> None:
    """Ignore a new value: for a gauge that reads its value at each scrape."""


class Metrics(ABC):
    """Requests by workload, strategy and status, added gauges and counters, and process metrics.

    The processes of the pools are not included; /proc shows them.
    """

    def __init__(self, registry: CollectorRegistry, own: CollectorRegistry | None) -> None:
        """`registry` is shown. `own` gets the metrics of this process; None: files get them."""
        disable_created_metrics()  # type: ignore[no-untyped-call]
        PlatformCollector(registry=registry)
        self._registry, self._own = registry, own
        self._requests = Counter(
            "restbench_requests",
            "Requests answered.",
            ["workload", "strategy", "status"],
            registry=own,
        )
        self._counters: dict[tuple[str, ...], Counter] = {}
        self._guard = Lock()
        self._copies: list[Callable[[], None]] = []
        """Bring the copies of counters that are kept elsewhere up to date."""

    @abstractmethod
    def show(self, name: str, text: str, value: Callable[[], float]) -> Callable[[float], None]:
        """Add a gauge. Returns the function to call with each new value."""

    def show_counts(self, name: str, text: str, labels: tuple[str, ...], counts: Counts) -> None:
        """Add a counter that is kept elsewhere. `labels` are label names; `counts` returns every
        combination of label values from the start.
        """
        counter = Counter(name, text, labels, registry=self._own)
        written = dict.fromkeys(counts(), 0)
        counters = {each: counter.labels(*each) if each else counter for each in written}

        def copy() -> None:
            for values, count in counts().items():
                if count > written[values]:
                    counters[values].inc(count - written[values])
                    written[values] = count

        self._copies.append(copy)

    def count(self, workload: str, strategy: str, status: int) -> None:
        """Count one answered request."""
        labels = (workload, strategy, str(status))
        counter = self._counters.get(labels)
        if counter is None:  # two threads may get here: both get the same one
            counter = self._counters[labels] = self._requests.labels(*labels)
        counter.inc()

    def text(self) -> bytes:
        """All metrics in Prometheus text format."""
        self._copy_counts()
        return generate_latest(self._registry)

    def _copy_counts(self) -> None:
        with self._guard:
            for copy in self._copies:
                copy()


class OwnMetrics(Metrics):
    """The metrics of a service whose only worker is this process."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
        super().__init__(registry, registry)

    def show(self, name: str, text: str, value: Callable[[], float]) -> Callable[[float], None]:
        """See Metrics. The value is read at each scrape."""
        Gauge(name, text, registry=self._registry).set_function(value)
        return unseen


class SharedMetrics(Metrics):
    """The metrics of a service with several workers, summed over the workers.

    They use prometheus_client's multiprocess mode: each worker keeps its values in files of a
    folder that all workers read. When a worker has ended, its counters stay in the sum, its gauges
    do not.
    """

    def __init__(self) -> None:
        """The folder that METRICS_VARIABLE names must exist."""
        super().__init__(CollectorRegistry(), None)
        self._folder = Path(os.environ[METRICS_VARIABLE])
        MultiProcessCollector(self._registry)  # type: ignore[no-untyped-call]
        self._registry.register(_Workers())

    def show(self, name: str, text: str, value: Callable[[], float]) -> Callable[[float], None]:
        """See Metrics. The value is read once; pass each later one to the returned function."""
        gauge = Gauge(name, text, registry=None, multiprocess_mode="livesum")
        gauge.set(value())
        return gauge.set

    def count(self, workload: str, strategy: str, status: int) -> None:
        """See Metrics. Counters kept elsewhere are copied, so that any worker shows them."""
        super().count(workload, strategy, status)
        self._copy_counts()

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
        """Remove the live gauges and the empty files of workers that have ended."""
        for path in self._folder.glob("*.db"):
            pid = int(path.stem.rpartition("_")[2])
            is_live_gauge = path.name.startswith("gauge_live")
            with suppress(FileNotFoundError):  # another worker removes it at the same time
                if (is_live_gauge or not path.stat().st_size) and not is_worker(pid):
                    path.unlink()


class _Workers(Collector):
    """Memory, CPU time and open files of all workers."""

    def collect(self) -> Iterator[Metric]:
        """See prometheus_client's Collector."""
        sums: dict[str, Metric] = {}
        for pid in worker_pids():
            for family in ProcessCollector(pid=partial(int, pid), registry=None).collect():
                if family.name in _SUMMED:
                    (sample,), before = family.samples, sums.get(family.name)
                    value = sample.value + (before.samples[0].value if before else 0)
                    family.samples = [sample._replace(value=value)]
                    sums[family.name] = family
        yield from sums.values()
