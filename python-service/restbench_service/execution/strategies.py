"""The table of execution techniques."""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import cached_property
from threading import Thread
from time import monotonic

from .adaptive import NICENESS, Adaptive
from .per_element import PerElement
from .per_request import PerRequest
from .pool_threads import PoolThreads
from .serial import Serial
from .standard_pools import ExecutorPool, MultiprocessingPool, PoolKind, prepare_fork_server
from .strategy import Strategy
from .worker import begin_work
from .worker_pool import WorkerPool


@dataclass(frozen=True)
class Start:
    """What a technique is started with.

    `processes` is the size of its pool, `running` the limit of requests at once under it (None:
    its own), `modules` what the processes import before their first request, `threads` the size of
    its pool of threads (None: its own).
    """

    processes: int
    running: int | None
    modules: tuple[str, ...]
    threads: int | None = None

    @cached_property
    def requests_pool(self) -> WorkerPool:
        """For the techniques that give whole requests to processes, each of which may close it."""
        return self.pool(MultiprocessingPool, "PR")

    def pool(self, kind: PoolKind, name: str, niceness: int = 0) -> WorkerPool:
        """Processes that are forked from one that has imported the modules."""
        prepare_fork_server([*self.modules, begin_work.__module__])
        return WorkerPool(kind, name, self.processes, self.modules, niceness)


_PER_ELEMENT = (
    "Each element of the result is a task for a {} "
    "(kernel=native: a dot product), operands and product in shared memory."
)
_PER_REQUEST = "Each request is decoded, computed and encoded in one process of a {}."


def _process_per_element(start: Start) -> Strategy:
    text = _PER_ELEMENT.format("multiprocessing.Pool with chunks of one")
    pool = start.pool(MultiprocessingPool, "PE")
    return PerElement("process-per-element", "PE", text, pool, start.running)


def _process_per_request(start: Start) -> Strategy:
    text = _PER_REQUEST.format("multiprocessing.Pool")
    return PerRequest("process-per-request", "PR", text, start.requests_pool, start.running)


def _executor_per_element(start: Start) -> Strategy:
    text, pool = _PER_ELEMENT.format("ProcessPoolExecutor"), start.pool(ExecutorPool, "EE")
    return PerElement("executor-per-element", None, text, pool, start.running)


def _executor_per_request(start: Start) -> Strategy:
    text, pool = _PER_REQUEST.format("ProcessPoolExecutor"), start.pool(ExecutorPool, "ER")
    return PerRequest("executor-per-request", None, text, pool, start.running)


def _adaptive(start: Start) -> Strategy:
    low_priority = start.pool(MultiprocessingPool, "F1", NICENESS)
    return Adaptive(start.requests_pool, low_priority, start.running)


TECHNIQUES: dict[str, Callable[[Start], Strategy]] = {
    "serial": lambda start: Serial(start.running),
    "process-per-element": _process_per_element,
    "process-per-request": _process_per_request,
    "executor-per-element": _executor_per_element,
    "executor-per-request": _executor_per_request,
    "adaptive": _adaptive,
    "worker-pool": lambda start: PoolThreads(start.threads, start.running),
}
"""By name, in the order GET /strategies lists them. To be called after gunicorn's fork."""


def start_strategies(start: Start, names: Container[str] = TECHNIQUES) -> dict[str, Strategy]:
    """The techniques of these names, their processes starting."""
    return {name: technique(start) for name, technique in TECHNIQUES.items() if name in names}


def close_strategies(strategies: Iterable[Strategy], seconds: float) -> None:
    """All at once, so that one time is enough for any number of them."""
    closing = [Thread(target=strategy.close, daemon=True) for strategy in strategies]
    deadline = monotonic() + seconds
    for thread in closing:
        thread.start()
    for thread in closing:
        thread.join(max(0.0, deadline - monotonic()))
