"""Observations of a service while it answered a few requests, from which claims are checked; and,
for the adaptive strategy, where it computes after each decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from restbench.experiment.cell import Shape
from restbench.observe.observe import Observation, Prefix

#: Name prefix of the threads on which the Java service receives requests.
REQUEST_THREADS = "http-"
#: Name prefixes of the web process's threads: the interpreter's or the server's; from Python 3.14
#: on those of gunicorn's pool or of ours (`event_loop.serving`).
WEB = ("gunicorn", "python", "uvicorn", "ThreadPool", "request")
#: Name prefixes of the Python service's pool processes: one for each strategy that has a pool.
POOLS = ("PE-", "PR-", "EE-", "ER-", "F1-")
#: Name prefix of the threads of the Python service's worker pool.
WORKER_POOL = "WP-"
#: By service: name prefixes of the threads and processes that can do a request's work. The JVM's
#: own compiler and GC threads are left out.
WORKERS = {
    "java": (
        REQUEST_THREADS, "thread-pool", "pinned", "pipe-", "element", "shared", "fork-join",
        "adapt-", "ForkJoi", "worker-pool",
    ),
    "python": (*WEB, *POOLS, WORKER_POOL),
}  # fmt: skip
#: The strategy that decides where each request is computed.
ADAPTIVE_STRATEGY = "adaptive"
CALLER = "caller"
#: The decision that splits a request's loops into one piece per core.
SHARED = "shared-pool"
#: By service and decision: the name prefix of the threads or processes that compute.
PLACES: dict[str, dict[str, Prefix]] = {
    "java": {CALLER: REQUEST_THREADS, SHARED: "shared", "low-priority": "adapt-long"},
    # The web process, the pool of process-per-request, and a pool of the adaptive strategy's own.
    "python": {CALLER: WEB, "process": "PR-", "low-priority": "F1-"},
}
#: By framework: the name prefix of the calling threads, if not the service's usual one. Helidon's
#: are virtual threads, whose carriers the kernel sees; with the handoff `loop` the event loop's.
CALLERS: dict[str, Prefix] = {
    "helidon": "ForkJoi",
    "reactor-netty/loop": "reactor-loop",
    "vertx/loop": "vert.x-event",
}
#: Where large requests go when many arrive at once.
CROWD_PLACES = {"java": ("low-priority",), "python": ("process", "low-priority")}
#: Small requests, and so many of them that their CPU time together is visible.
SMALL, SMALL_REQUESTS = Shape(rows=4, inner=4, columns=4), 20
LARGE: dict[str, Shape] = {
    "java": Shape(rows=500, inner=500, columns=500),
    "python": Shape(rows=150, inner=100, columns=100),
}


@dataclass(frozen=True)
class Batch:
    """Requests of one kind, and what was observed while they ran."""

    requests: int
    seen: Observation
    chosen: Mapping[str, float]
    """How often the service counted each decision meanwhile."""


@dataclass(frozen=True)
class Batches:
    """The batches of requests sent to the adaptive strategy."""

    small: Batch
    """Small requests, one after the other."""
    large: Sequence[Batch]
    """Batches of one large request each."""
    crowd: Batch
    """Large requests, more at once than there are cores."""


@dataclass(frozen=True)
class Evidence:
    """The observations: one for each single request, and one of two requests at once."""

    single: list[Observation]
    double: Observation
    service: str
    cores: tuple[int, ...]
    shape: Shape
    batches: Batches | None = None
    """Only of the adaptive strategy."""
    framework: str = ""
    """As /health names it, with the handoff where that is the event loop (`vertx/loop`). Empty: a
    framework whose threads have the usual names."""
    processes: int | None = None
    """Processes in each pool of the Python service, as /health says; None: one per core."""

    @property
    def workers(self) -> tuple[str, ...]:
        """The name prefixes of all threads that can do a request's work in this service."""
        known, caller = WORKERS[self.service], self.caller
        return (*known, caller) if isinstance(caller, str) and caller not in known else known

    @property
    def pool_size(self) -> int:
        """How many processes a pool of the Python service should have."""
        return self.processes or len(self.cores)

    @property
    def caller(self) -> Prefix:
        """The threads that a request arrives on, as a prefix of their names."""
        return CALLERS.get(self.framework, PLACES[self.service][CALLER])

    @property
    def places(self) -> dict[str, Prefix]:
        """By decision of the adaptive strategy: the name prefix of the threads that compute."""
        return PLACES[self.service] | {CALLER: self.caller}

    def share(self, observation: Observation, prefix: Prefix) -> float:
        """The share of the threads with this name prefix in the CPU time of all workers."""
        return observation.share(prefix, self.workers)

    def least_share(self, prefix: Prefix) -> float:
        """The smallest `share` over the single requests."""
        return min(self.share(each, prefix) for each in self.single)


Verdict = tuple[bool | None, str]
"""Whether a technique does what its name says, None if it is not visible; the evidence in words."""
Check = Callable[[Evidence], Verdict]
Claim = tuple[str, Check]
"""What a technique's name says, in words, and the check of it."""
