"""The strategy that chooses: where it computes by its decision, and what it was sent to be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from restbench.experiment.cell import Shape
from restbench.observe.observe import Observation, Prefix

Places = dict[str, Prefix]
#: The names of the web process's threads: of the interpreter or its server; from Python 3.14 on of
#: gunicorn's pool or ours (`event_loop.serving`).
WEB = ("gunicorn", "python", "uvicorn", "ThreadPool", "request")
STRATEGY = "adaptive"
CALLER = "caller"
#: Where a request's loops are cut, one piece a core.
SHARED = "shared-pool"
#: By each decision, the threads or processes that compute then, as a prefix of their names.
PLACES: dict[str, Places] = {
    "java": {CALLER: "http-", SHARED: "shared", "low-priority": "adapt-long"},
    # The web process, the pool of process-per-request, and one of its own.
    "python": {CALLER: WEB, "process": "PR-", "low-priority": "F1-"},
}
#: By the framework, what a caller is named where it is not the service's usual: Helidon's are
#: virtual threads, so that what the kernel sees is their carriers, and an event loop may run them.
CALLERS: dict[str, Prefix] = {
    "helidon": "ForkJoi",
    "reactor-netty/loop": "reactor-loop",
    "vertx/loop": "vert.x-event",
}
#: Where large ones of many go.
OF_MANY = {"java": ("low-priority",), "python": ("process", "low-priority")}
#: So many that what they take together is seen.
SMALL, SMALL_REQUESTS = Shape(rows=4, inner=4, columns=4), 20
LARGE: dict[str, Shape] = {
    "java": Shape(rows=500, inner=500, columns=500),
    "python": Shape(rows=150, inner=100, columns=100),
}


@dataclass(frozen=True)
class Batch:
    """Requests alike."""

    requests: int
    seen: Observation
    chosen: Mapping[str, float]
    """How often the service counted each decision meanwhile."""


@dataclass(frozen=True)
class Batches:
    """What the strategy was sent."""

    small: Batch
    """One after the other."""
    large: Sequence[Batch]
    """Each of one request."""
    crowd: Batch
    """As large ones, more at once than there are cores."""
