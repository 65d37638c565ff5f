"""A loop whose units are tasks for processes, and the memory that they share for one request.

The memory is a file that has no name (memfd_create): other processes open it through /proc while
the request runs. So nothing is left behind, however a process ends; no space in /dev/shm is needed,
which is small in a container; and attaching registers nothing with a resource tracker.
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
"""Tasks in the pool at once: each takes some hundred bytes, and a loop may have a million."""
MOST_LOOPS = 256
"""Loops of a request that a process keeps unpacked; multigrid has about forty."""
_PAGE_BYTES = mmap.ALLOCATIONGRANULARITY
_NUMBERS = count()


class Handle(NamedTuple):
    """A reference to a shared array, sent to a process instead of the array."""

    path: str
    block: int
    """Number of the request's memory: another request's memory may later have the same path."""
    offset: int
    shape: tuple[int, ...]
    dtype: str

    @property
    def size_bytes(self) -> int:
        """Size of the array, at least 1, since an empty range cannot be mapped."""
        return max(1, prod(self.shape) * np.dtype(self.dtype).itemsize)

    def array(self, descriptor: int) -> NDArray[Any]:
        """Map the array; it is unmapped when the last reference to it ends."""
        memory = mmap.mmap(descriptor, self.size_bytes, offset=self.offset)
        return np.ndarray(self.shape, self.dtype, buffer=memory)


class SharedLoop:
    """The loop of one request. To be closed after the request, which frees the loop's arrays."""

    def __init__(self, pool: ProcessPool) -> None:
        """Each unit is one task for the pool, whatever grain the workload asks for."""
        self._pool = pool
        self._descriptor = os.memfd_create("restbench", os.MFD_CLOEXEC)
        self._path = f"/proc/{os.getpid()}/fd/{self._descriptor}"
        self._block, self._end = next(_NUMBERS), 0
        self._arrays: list[tuple[NDArray[Any], Handle]] = []

    def close(self) -> None:
        """Free the memory. Processes may still have it mapped, but no longer use it."""
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """See ParallelLoop. Raises MemoryError if memory is short: otherwise a later page fault
        would kill the process."""
        handle = Handle(self._path, self._block, self._end, shape, np.dtype(dtype).str)
        try:
            os.posix_fallocate(self._descriptor, handle.offset, handle.size_bytes)
        except OSError as error:
            raise MemoryError(f"no {handle.size_bytes} bytes to share") from error
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
        """The handle of an array of this loop; another argument as it is. Raises TypeError for any
        other array."""
        for array, handle in self._arrays:
            if array is argument:
                return handle
        if isinstance(argument, np.ndarray):
            raise TypeError(
                "an array for tasks must be one of loop.array, whole: others are copied"
            )
        return argument


_KNOWN: dict[bytes, tuple[Body, Sequence[Any]]] = {}
"""In a process of a pool: the unpacked loops of its current request, by their packed form."""
_ATTACHED: dict[Handle, NDArray[Any]] = {}


@carries_errors
def run_unit(packed: bytes, unit: int) -> None:
    """Run one unit of a packed loop, as one task."""
    known = _KNOWN.get(packed)
    if known is None:
        known = _unpacked(packed)
    body, arguments = known
    body(unit, unit + 1, *arguments)


def _unpacked(packed: bytes) -> tuple[Body, Sequence[Any]]:
    """Unpack a loop. Arrays are attached once per request; those of an earlier one are freed."""
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
