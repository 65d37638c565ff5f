"""The table of execution techniques."""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import cached_property
from threading import Thread
from time import monotonic
from typing import NamedTuple

from .adaptive import NICENESS, Adaptive
from .process_pool import ProcessPool
from .standard_pools import ExecutorPool, MultiprocessingPool, PoolKind, prepare_fork_server
from .strategy import Strategy
from .techniques import PerElement, PerRequest, Serial, WorkerPool
from .worker import begin_work


@dataclass(frozen=True)
class Start:
    """The parameters with which techniques are started.

    `processes` is the size of a pool of processes, `running` the limit of requests that run at once
    under a technique (None: the technique's default), `modules` what the processes import before
    their first request, `threads` the size of a pool of threads (None: the technique's default).
    """

    processes: int
    running: int | None
    modules: tuple[str, ...]
    threads: int | None = None

    @cached_property
    def requests_pool(self) -> ProcessPool:
        """The pool that techniques for whole requests share. Each of them may close it."""
        return self.pool(MultiprocessingPool, "PR")

    def pool(self, kind: PoolKind, name: str, niceness: int = 0) -> ProcessPool:
        """A new pool, whose processes are forked from a server that has imported the modules."""
        prepare_fork_server([*self.modules, begin_work.__module__])
        return ProcessPool(kind, name, self.processes, self.modules, niceness)


class Technique(NamedTuple):
    """A row of the table."""

    key: str | None
    """The study's name for the technique; None if the study has no name for it."""
    description: str
    """One sentence, for GET /strategies."""
    start: Callable[[Start], Strategy]
    """To be called in the serving process, after any fork of the server."""


_ELEMENTS = (
    "Each element of the result is a task for a {} "
    "(kernel=native: a dot product), operands and product in shared memory."
)
_REQUESTS = "Each request is decoded, computed and encoded {}."

TECHNIQUES = {
    "serial": Technique(
        "PS",
        "The request's own thread does everything, one element after the other, in one process.",
        lambda start: Serial(start.running),
    ),
    "process-per-element": Technique(
        "PE",
        _ELEMENTS.format("multiprocessing.Pool with chunks of one"),
        lambda start: PerElement(start.pool(MultiprocessingPool, "PE"), start.running),
    ),
    "process-per-request": Technique(
        "PR",
        _REQUESTS.format("in one process of a multiprocessing.Pool"),
        lambda start: PerRequest(start.requests_pool, start.running),
    ),
    "executor-per-element": Technique(
        None,
        _ELEMENTS.format("ProcessPoolExecutor"),
        lambda start: PerElement(start.pool(ExecutorPool, "EE"), start.running),
    ),
    "executor-per-request": Technique(
        None,
        _REQUESTS.format("in one process of a ProcessPoolExecutor"),
        lambda start: PerRequest(start.pool(ExecutorPool, "ER"), start.running),
    ),
    "adaptive": Technique(
        "F1",
        "Each request runs where its estimated cost and those in flight suggest: on its own thread "
        "as serial, in a process as process-per-request or, if it is long, in one of low priority.",
        lambda start: Adaptive(
            start.requests_pool, start.pool(MultiprocessingPool, "F1", NICENESS), start.running
        ),
    ),
    "worker-pool": Technique(
        None,
        _REQUESTS.format("on one thread of a ThreadPoolExecutor"),
        lambda start: WorkerPool(start.threads, start.running),
    ),
}
"""The techniques by name, the second part of a path, in the order of GET /strategies."""


def start_strategies(start: Start, names: Container[str] = TECHNIQUES) -> dict[str, Strategy]:
    """Start the techniques with these names, without waiting for their processes."""
    return {name: each.start(start) for name, each in TECHNIQUES.items() if name in names}


def close_strategies(strategies: Iterable[Strategy], seconds: float) -> None:
    """Close all strategies in parallel; returns after at most `seconds` in total."""
    closing = [Thread(target=strategy.close, daemon=True) for strategy in strategies]
    deadline = monotonic() + seconds
    for thread in closing:
        thread.start()
    for thread in closing:
        thread.join(max(0.0, deadline - monotonic()))
