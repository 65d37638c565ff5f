"""What was seen of a service while it served a few requests, for a claim to be checked on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from restbench.experiment.cell import Shape
from restbench.observe import decisions
from restbench.observe.decisions import CALLER, Batches, Places
from restbench.observe.observe import Observation, Prefix

#: The threads that can do a request's work; the JVM's own compiler and GC threads are left out.
REQUEST_THREADS = "http-"
#: A process of a pool of Python's: of each strategy that has one.
POOLS = ("PE-", "PR-", "EE-", "ER-", "F1-")
#: A thread of the pool that takes Python's requests.
WORKER_POOL = "WP-"
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
    """What was watched: one observation a request, and one of two requests at once."""

    single: list[Observation]
    double: Observation
    service: str
    cores: tuple[int, ...]
    shape: Shape
    batches: Batches | None = None
    """Of the strategy that chooses."""
    framework: str = ""
    """As /health names it, with its handoff where that is the loop, `vertx/loop`; empty: one whose
    threads are named as usual."""
    processes: int | None = None
    """In each pool of Python's, as /health says; None: one a core."""

    @property
    def workers(self) -> tuple[str, ...]:
        """The families that can do a request's work in this service."""
        known, caller = WORKERS[self.service], self.caller
        return (*known, caller) if isinstance(caller, str) and caller not in known else known

    @property
    def pool_size(self) -> int:
        """How many processes a pool of Python's is to have."""
        return self.processes or len(self.cores)

    @property
    def caller(self) -> Prefix:
        """The threads that a request arrives on, as a prefix of their names."""
        return decisions.CALLERS.get(self.framework, decisions.PLACES[self.service][CALLER])

    @property
    def places(self) -> Places:
        """Of the strategy that chooses: where it computes, by its decision."""
        return decisions.PLACES[self.service] | {CALLER: self.caller}

    def share(self, observation: Observation, prefix: Prefix) -> float:
        """The family's part of all workers' CPU time."""
        return observation.share(prefix, self.workers)

    def least_share(self, prefix: Prefix) -> float:
        """The smallest such part over the single requests."""
        return min(self.share(each, prefix) for each in self.single)


Verdict = tuple[bool, str]
"""Whether a technique does what its name says, and what that was seen by."""
Check = Callable[[Evidence], Verdict]
Claim = tuple[str, Check]
"""What a technique's name says, in words, and how that is seen."""
