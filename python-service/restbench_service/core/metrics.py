"""The numbers at /metrics."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

Counts = Callable[[], Mapping[tuple[str, ...], int]]
"""Numbers that only grow, by the values of their labels."""


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
        self._registry.register(_Kept(name, text, labels, counts))


class _Kept(Collector):
    """One counter that is kept elsewhere."""

    def __init__(self, name: str, text: str, labels: tuple[str, ...], counts: Counts) -> None:
        self._name, self._text, self._labels, self._counts = name, text, labels, counts

    def collect(self) -> Iterator[CounterMetricFamily]:
        """As prometheus_client asks for it."""
        family = CounterMetricFamily(self._name, self._text, labels=self._labels)
        for values, count in self._counts().items():
            family.add_metric(values, count)
        yield family
