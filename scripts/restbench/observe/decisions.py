"""The adaptive strategy: where it computes after each decision, and the requests that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from restbench.experiment.cell import Shape
from restbench.observe.observe import Observation, Prefix

Places = dict[str, Prefix]
#: Name prefixes of the web process's threads: the interpreter's or the server's; from Python 3.14
#: on those of gunicorn's pool or of ours (`event_loop.serving`).
WEB = ("gunicorn", "python", "uvicorn", "ThreadPool", "request")
STRATEGY = "adaptive"
CALLER = "caller"
#: The decision that splits a request's loops into one piece per core.
SHARED = "shared-pool"
#: By service and decision: the name prefix of the threads or processes that compute.
PLACES: dict[str, Places] = {
    "java": {CALLER: "http-", SHARED: "shared", "low-priority": "adapt-long"},
    # The web process, the pool of process-per-request, and a pool of the adaptive strategy's own.
    "python": {CALLER: WEB, "process": "PR-", "low-priority": "F1-"},
}
#: By framework: the name prefix of the calling threads where it is not the service's usual one. In
#: Helidon they are virtual threads, of which the kernel sees the carriers; with the handoff `loop`
#: they are the event loop's.
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
