"""Arrays that several processes see, in anonymous memory that is passed on as a file descriptor.

The memory has no name, so nothing can be left in /dev/shm, however a process ends: the kernel
frees it with the last descriptor and mapping.
"""

import mmap
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_NUMBERS = count(os.getpid() << 32)
"""A process may be shown arrays of several others."""


@dataclass(frozen=True)
class Handle:
    """What stands for an array on its way to a process. No two arrays have the same number."""

    number: int
    shape: tuple[int, ...]
    dtype: str


class SharedArrays:
    """The arrays of one request, and which of them were shown to whom.

    A process is shown an array once: to see its memory again for each of a thousand loops would
    cost it a page fault a page each time.
    """

    def __init__(self) -> None:
        """None yet."""
        self._arrays: list[tuple[NDArray[Any], Handle, int]] = []
        self._shown: dict[socket.socket, set[int]] = {}

    @property
    def shown_to(self) -> list[socket.socket]:
        """Those who have seen an array."""
        return list(self._shown)

    @property
    def numbers(self) -> list[int]:
        """Of all arrays."""
        return [handle.number for _, handle, _ in self._arrays]

    def create(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """One more, not initialised."""
        item_type = np.dtype(dtype)
        handle = Handle(next(_NUMBERS), shape, item_type.str)
        descriptor = os.memfd_create("restbench-array")
        os.ftruncate(descriptor, max(1, int(np.prod(shape)) * item_type.itemsize))
        array = attach(descriptor, handle)
        self._arrays.append((array, handle, descriptor))
        return array

    def handle_of(self, argument: Any) -> Any:
        """The handle in the place of an array of this request, anything else as it is."""
        for array, handle, _ in self._arrays:
            if array is argument:
                return handle
        if isinstance(argument, np.ndarray):
            raise TypeError(
                "an array for tasks must be one of loop.array, whole: others are copied"
            )
        return argument

    def show(self, arguments: Sequence[Any], to: socket.socket) -> list[int]:
        """The descriptors of the handles' arrays that are new to this process, in their order."""
        shown = self._shown.setdefault(to, set())
        descriptors = {handle.number: descriptor for _, handle, descriptor in self._arrays}
        numbers = [argument.number for argument in arguments if isinstance(argument, Handle)]
        unseen = [number for number in dict.fromkeys(numbers) if number not in shown]
        shown.update(unseen)
        return [descriptors[number] for number in unseen]

    def show_again(self) -> None:
        """Those who have seen arrays have forgotten them."""
        self._shown.clear()

    def close(self) -> None:
        """Let go of the memory, except for arrays that are still in use."""
        while self._arrays:
            os.close(self._arrays.pop()[2])


def attach(descriptor: int, handle: Handle) -> NDArray[Any]:
    """The array in the descriptor's memory, which outlives the descriptor."""
    return np.ndarray(handle.shape, handle.dtype, buffer=mmap.mmap(descriptor, 0))


def attached(
    arguments: Sequence[Any], descriptors: Sequence[int], known: dict[int, NDArray[Any]]
) -> list[Any]:
    """The arguments with arrays for the handles.

    `descriptors` are those of the arrays that are not `known` yet, in the order of their handles:
    they are added and the descriptors closed.
    """
    handles = [argument for argument in arguments if isinstance(argument, Handle)]
    unseen = {handle.number: handle for handle in handles if handle.number not in known}
    for handle, descriptor in zip(unseen.values(), descriptors, strict=True):
        known[handle.number] = attach(descriptor, handle)
        os.close(descriptor)
    return [known[each.number] if isinstance(each, Handle) else each for each in arguments]
