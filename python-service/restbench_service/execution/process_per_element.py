"""PE: each element of a loop is a task for a process, the rest is the request's own thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..workloads.workload import Body, Workload
from .clock import StageClock
from .gate import Gate
from .pool.elements import ElementLoops
from .pool.pool import ProcessPool
from .pool.shared_array import SharedArrays
from .strategy import Fixed, run_stages


class ProcessPerElement(Fixed):
    """One task an element, operands and product in memory that all processes see."""

    name = "process-per-element"
    key = "PE"
    description = (
        "Each element of the result is a task for a process of a pool, "
        "with operands and product in shared memory."
    )

    def __init__(self, pool: ProcessPool, running: int | None) -> None:
        """The pool is closed with the strategy. By default one request runs, as the pool does."""
        self._pool = pool
        self._gate = Gate(running or 1)

    def execute(self, workload: Workload[Any, Any], body: bytes, clock: StageClock) -> bytes:
        """See Strategy."""
        with self._gate.entered(clock), _loop(self._pool, clock) as loop:
            return run_stages(workload, body, loop, clock)

    def await_ready(self) -> None:
        """See Strategy."""
        self._pool.await_ready()

    def close(self) -> None:
        """End the processes."""
        self._pool.close()


@contextmanager
def _loop(pool: ProcessPool, clock: StageClock) -> Iterator["_SharedLoop"]:
    loop = _SharedLoop(pool, clock)
    try:
        yield loop
    finally:
        loop.close()


class _SharedLoop:
    """The loop of one request: cuts as finely as it can, on all processes of the pool."""

    def __init__(self, pool: ProcessPool, clock: StageClock) -> None:
        self._pool, self._clock = pool, clock
        self._arrays = SharedArrays()
        self._loops = ElementLoops(self._arrays)

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
        """See Loop."""
        return self._arrays.create(shape, dtype)

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:  # noqa: ARG002 - finer than any grain
        """See Loop."""
        with self._pool.all(self._clock) as channels:
            self._loops.run(channels, units, body, arguments)

    def close(self) -> None:
        """Let go of the memory, here and in the processes."""
        if self._arrays.shown_to:
            with self._pool.between_loops():
                self._loops.forget()
        self._arrays.close()
