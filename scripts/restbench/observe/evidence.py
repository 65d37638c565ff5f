"""Observations of a service while it answered a few requests, from which claims are checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from restbench.experiment.cell import Shape
from restbench.observe import decisions
from restbench.observe.decisions import CALLER, Batches, Places
from restbench.observe.observe import Observation, Prefix

#: Name prefix of the threads on which the Java service receives requests.
REQUEST_THREADS = "http-"
#: Name prefixes of the Python service's pool processes: one for each strategy that has a pool.
POOLS = ("PE-", "PR-", "EE-", "ER-", "F1-")
#: Name prefix of the threads of the Python service's worker pool.
WORKER_POOL = "WP-"
#: By service: name prefixes of the threads and processes that can do a request's work. The JVM's
#: own compiler and GC threads are left out.
WORKERS = {
    "java": (
        REQUEST_THREADS,
        "thread-pool",
        "pinned",
        "pipe-",
        "element",
        "shared",
        "fork-join",
        "adapt-",
        "ForkJoi",
        "worker-pool",
    ),
    "python": (*decisions.WEB, *POOLS, WORKER_POOL),
}


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
        return decisions.CALLERS.get(self.framework, decisions.PLACES[self.service][CALLER])

    @property
    def places(self) -> Places:
        """By decision of the adaptive strategy: the name prefix of the threads that compute."""
        return decisions.PLACES[self.service] | {CALLER: self.caller}

    def share(self, observation: Observation, prefix: Prefix) -> float:
        """The share of the threads with this name prefix in the CPU time of all workers."""
        return observation.share(prefix, self.workers)

    def least_share(self, prefix: Prefix) -> float:
        """The smallest `share` over the single requests."""
        return min(self.share(each, prefix) for each in self.single)


Verdict = tuple[bool | None, str]
"""Whether a technique does what its name says, None where that cannot be observed; and the evidence
in words."""
Check = Callable[[Evidence], Verdict]
Claim = tuple[str, Check]
"""What a technique's name says, in words, and the check of it."""
