"""The numbers at /metrics."""

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


class Metrics:
    """Requests by workload, strategy and status, those in flight, and the process's own figures.

    The process is the one that serves; the pools' processes are seen in /proc, not here.
    """

    def __init__(self) -> None:
        """Requests and the process's own figures; others are added by show()."""
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._requests = Counter(
            "restbench_requests",
            "Requests answered.",
            ["workload", "strategy", "status"],
            registry=self._registry,
        )
        self._decisions = _Decisions()
        self._registry.register(self._decisions)
        self._counters: dict[tuple[str, ...], Counter] = {}

    def show(self, name: str, text: str, value: Callable[[], float]) -> None:
        """A gauge whose value is asked at each scrape."""
        Gauge(name, text, registry=self._registry).set_function(value)

    def show_decisions(self, strategy: str, counts: Callable[[], Mapping[str, int]]) -> None:
        """What a strategy has decided how often, asked at each scrape."""
        self._decisions.strategies[strategy] = counts

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
