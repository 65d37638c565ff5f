"""PE: each element of a loop is a task for a process, the rest is the request's own thread."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..workloads.workload import Body, Workload
from .clock import StageClock
from .gate import Gate
from .pool import shared_array
from .pool.elements import run_loop
from .pool.pool import ProcessPool
from .strategy import run_stages


class ProcessPerElement:
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
        self._shared: list[tuple[np.ndarray[Any, Any], int]] = []

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
        """See Loop."""
        descriptor, array = shared_array.create(shape, dtype)
        self._shared.append((array, descriptor))
        return array

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:  # noqa: ARG002 - finer than any grain
        """See Loop."""
        descriptors: list[int] = []
        plain = [self._replaced(argument, descriptors) for argument in arguments]
        with self._pool.all(self._clock) as channels:
            run_loop(channels, units, body, plain, descriptors)

    def close(self) -> None:
        """Let go of the memory, except for arrays that are still in use."""
        while self._shared:
            os.close(self._shared.pop()[1])

    def _replaced(self, argument: Any, descriptors: list[int]) -> Any:
        """A shared array's shape instead of the array, its descriptor added to the list."""
        for array, descriptor in self._shared:
            if array is argument:
                descriptors.append(descriptor)
                return shared_array.Shape(array.shape, array.dtype.str)
        if isinstance(argument, np.ndarray):
            raise TypeError(
                "an array for tasks must be one of loop.array, whole: others are copied"
            )
        return argument
