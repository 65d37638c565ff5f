"""A loop whose units are tasks for processes, and the memory that they share for one request.

The memory is a file that has no name (memfd_create): other processes open it through /proc while
the request runs. So nothing can be left behind, however a process ends, nor does it need room in
/dev/shm, which a container keeps small; and attaching registers nothing with a resource tracker.
"""

import mmap
import os
import pickle
from collections.abc import Sequence
from functools import partial
from itertools import count
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..workloads.workload import Body
from .faults import carries_errors
from .process_pool import ProcessPool

MOST_TASKS_AT_ONCE = 16_384
"""Given to the pool: each is some hundred bytes there, and a product may have 30 million."""
MOST_LOOPS = 256
"""Of a request, that a process keeps in mind; multigrid has some forty."""
_PAGE_BYTES = mmap.ALLOCATIONGRANULARITY
_NUMBERS = count()


class Handle(NamedTuple):
    """What stands for an array on its way to a process."""

    path: str
    block: int
    """Number of the request's memory: a path may be that of another's later."""
    offset: int
    shape: tuple[int, ...]
    dtype: str

    @property
    def size_bytes(self) -> int:
        """At least 1, since nothing cannot be mapped."""
        return max(1, prod(self.shape) * np.dtype(self.dtype).itemsize)

    def array(self, descriptor: int) -> NDArray[Any]:
        """Unmapped with the last reference to it."""
        memory = mmap.mmap(descriptor, self.size_bytes, offset=self.offset)
        return np.ndarray(self.shape, self.dtype, buffer=memory)


class SharedLoop:
    """The loop of one request, to be closed after it: then its arrays are gone."""

    def __init__(self, pool: ProcessPool) -> None:
        """Each unit is a task for it, whatever grain is asked for."""
        self._pool = pool
        self._descriptor = os.memfd_create("restbench", os.MFD_CLOEXEC)
        self._path = f"/proc/{os.getpid()}/fd/{self._descriptor}"
        self._block, self._end = next(_NUMBERS), 0
        self._arrays: list[tuple[NDArray[Any], Handle]] = []

    def close(self) -> None:
        """Give the memory back, though processes still have it mapped: they use it no more."""
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """See ParallelLoop. Raises OSError without room: a later page fault would kill."""
        handle = Handle(self._path, self._block, self._end, shape, np.dtype(dtype).str)
        os.posix_fallocate(self._descriptor, handle.offset, handle.size_bytes)
        self._end += -(-handle.size_bytes // _PAGE_BYTES) * _PAGE_BYTES
        array = handle.array(self._descriptor)
        self._arrays.append((array, handle))
        return array

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:  # noqa: ARG002 - finer than any grain
        """See ParallelLoop."""
        packed = pickle.dumps((body, [self._handle_of(argument) for argument in arguments]))
        task = partial(run_unit, packed)
        for start in range(0, units, MOST_TASKS_AT_ONCE):
            self._pool.map(task, range(start, min(start + MOST_TASKS_AT_ONCE, units)))

    def _handle_of(self, argument: Any) -> Any:
        """The handle in the place of an array of this loop, anything else as it is."""
        for array, handle in self._arrays:
            if array is argument:
                return handle
        if isinstance(argument, np.ndarray):
            raise TypeError(
                "an array for tasks must be one of loop.array, whole: others are copied"
            )
        return argument


_KNOWN: dict[bytes, tuple[Body, Sequence[Any]]] = {}
"""In a process of a pool: the loops of the request that it works on, with their arrays."""
_ATTACHED: dict[Handle, NDArray[Any]] = {}


@carries_errors
def run_unit(packed: bytes, unit: int) -> None:
    """A task: one unit of the loop that was packed."""
    known = _KNOWN.get(packed)
    if known is None:
        known = _unpacked(packed)
    body, arguments = known
    body(unit, unit + 1, *arguments)


def _unpacked(packed: bytes) -> tuple[Body, Sequence[Any]]:
    """Arrays are attached once a request; those of the one before are let go."""
    body, arguments = pickle.loads(packed)  # noqa: S301 - from our own service
    blocks = {each.block for each in arguments if isinstance(each, Handle)}
    if any(handle.block not in blocks for handle in _ATTACHED) or len(_KNOWN) >= MOST_LOOPS:
        _KNOWN.clear()
        _ATTACHED.clear()
    attached = [_attached(each) if isinstance(each, Handle) else each for each in arguments]
    _KNOWN[packed] = body, attached
    return body, attached


def _attached(handle: Handle) -> NDArray[Any]:
    if handle not in _ATTACHED:
        descriptor = os.open(handle.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            _ATTACHED[handle] = handle.array(descriptor)
        finally:
            os.close(descriptor)
    return _ATTACHED[handle]
