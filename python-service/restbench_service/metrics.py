"""The numbers at /metrics."""

from collections.abc import Callable

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


class Metrics:
    """Requests by workload, strategy and status, those in flight, and the process's own figures.

    The process is gunicorn's one worker; the pools' processes are seen in /proc, not here.
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

    def show(self, name: str, text: str, value: Callable[[], float]) -> None:
        """A gauge whose value is asked at each scrape."""
        Gauge(name, text, registry=self._registry).set_function(value)

    def count(self, workload: str, strategy: str, status: int) -> None:
        """One request was answered."""
        self._requests.labels(workload, strategy, str(status)).inc()

    def text(self) -> bytes:
        """All metrics in Prometheus text format."""
        return generate_latest(self._registry)
