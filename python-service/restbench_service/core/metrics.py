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


def unseen(_: float) -> None:
    """For a gauge that is asked: what changes need not be reported."""


class Metrics(ABC):
    """Requests by workload, strategy and status, those in flight, and the figures of what serves.

    The pools' processes are seen in /proc, not here.
    """

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
    def show_decisions(self, strategy: str, counts: Callable[[], Mapping[str, int]]) -> None:
        """What a strategy has decided how often."""

    @abstractmethod
    def show_count(self, name: str, text: str, count: Callable[[], int]) -> None:
        """A counter, which is kept elsewhere."""

    def count(self, workload: str, strategy: str, status: int) -> None:
        """One request was answered."""
        labels = (workload, strategy, str(status))
        counter = self._counters.get(labels)
        if counter is None:  # two threads may both ask: it is the same one
            counter = self._counters[labels] = self._requests.labels(*labels)
        counter.inc()

    @abstractmethod
    def text(self) -> bytes:
        """All metrics in Prometheus text format."""


class OwnMetrics(Metrics):
    """Of a service whose only worker is this process."""

    def __init__(self) -> None:
        """With the process's own figures."""
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        super().__init__(self._registry)
        self._decisions = _Decisions()
        self._registry.register(self._decisions)

    def show(self, name: str, text: str, value: Callable[[], float]) -> Callable[[float], None]:
        """See Metrics; the value is asked at each scrape."""
        Gauge(name, text, registry=self._registry).set_function(value)
        return unseen

    def show_decisions(self, strategy: str, counts: Callable[[], Mapping[str, int]]) -> None:
        """See Metrics; they are asked at each scrape."""
        self._decisions.strategies[strategy] = counts

    def show_count(self, name: str, text: str, count: Callable[[], int]) -> None:
        """See Metrics; it is asked at each scrape."""
        self._registry.register(_Kept(name, text, count))

    def text(self) -> bytes:
        """See Metrics."""
        return generate_latest(self._registry)


class _Decisions(Collector):
    """Counts that are kept elsewhere, by strategy and decision."""

    def __init__(self) -> None:
        self.strategies: dict[str, Callable[[], Mapping[str, int]]] = {}

    def collect(self) -> Iterator[CounterMetricFamily]:
        """As prometheus_client asks for them."""
        family = CounterMetricFamily(
            "restbench_decisions",
            "Requests by where a strategy that chooses has handled them.",
            labels=["strategy", "decision"],
        )
        for strategy, counts in self.strategies.items():
            for decision, count in counts().items():
                family.add_metric([strategy, decision], count)
        yield family


class _Kept(Collector):
    """One counter that is kept elsewhere."""

    def __init__(self, name: str, text: str, count: Callable[[], int]) -> None:
        self._name, self._text, self._count = name, text, count

    def collect(self) -> Iterator[CounterMetricFamily]:
        """As prometheus_client asks for it."""
        yield CounterMetricFamily(self._name, self._text, value=self._count())
