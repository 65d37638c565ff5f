"""Arrays that several processes see, in anonymous memory that is passed on as a file descriptor.

The memory has no name, so nothing can be left in /dev/shm, however a process ends: the kernel
frees it with the last descriptor and mapping.
"""

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arena import Arena, Region
from .shared_memory import Memory, map_whole


@dataclass(frozen=True)
class Handle:
    """What stands for an array on its way to a process: its memory's number and how to see it."""

    number: int
    shape: tuple[int, ...]
    dtype: str


class SharedArrays:
    """The arrays of one request, and which of them were shown to whom.

    A process is shown an array once: to see its memory again for each of a thousand loops would
    cost it a page fault a page each time.
    """

    def __init__(self, arena: Arena | None = None) -> None:
        """None yet. Without an arena of the caller's nothing stays for the next request."""
        self._arena = arena or Arena()
        self._arrays: list[tuple[NDArray[Any], Handle, Region]] = []

    @property
    def shown_to(self) -> list[Any]:
        """Those who have seen an array."""
        return list(self._arena.shown)

    @property
    def passing_numbers(self) -> list[int]:
        """Of the arrays whose memory does not stay: to be forgotten by who has seen them."""
        return [region.number for _, _, region in self._arrays if not region.is_kept]

    def create(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """One more, not initialised."""
        item_type = np.dtype(dtype)
        region = self._arena.take(max(1, int(np.prod(shape)) * item_type.itemsize))
        handle = Handle(region.number, shape, item_type.str)
        array = _array(handle, region.memory)
        self._arrays.append((array, handle, region))
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

    def show(self, arguments: Sequence[Any], to: Hashable) -> list[int]:
        """The descriptors of the handles' arrays that are new to this process, in their order."""
        shown = self._arena.shown.setdefault(to, set())
        descriptors = {region.number: region.descriptor for _, _, region in self._arrays}
        numbers = [argument.number for argument in arguments if isinstance(argument, Handle)]
        unseen = [number for number in dict.fromkeys(numbers) if number not in shown]
        shown.update(unseen)
        return [descriptors[number] for number in unseen]

    def forgotten(self, by: Hashable) -> None:
        """This process has been told to forget those that pass."""
        self._arena.shown.get(by, set()).difference_update(self.passing_numbers)

    def close(self) -> None:
        """Let go of the memory, except for arrays that are still in use."""
        while self._arrays:
            self._arena.put_back(self._arrays.pop()[2])


def attached(
    arguments: Sequence[Any], descriptors: Sequence[int], known: dict[int, Memory]
) -> list[Any]:
    """The arguments with arrays for the handles.

    `descriptors` are those of the memory that is not `known` yet, in the order of the handles: it
    is added and the descriptors closed.
    """
    handles = [argument for argument in arguments if isinstance(argument, Handle)]
    unseen = dict.fromkeys(each.number for each in handles if each.number not in known)
    for number, descriptor in zip(unseen, descriptors, strict=True):
        known[number] = map_whole(descriptor)
        os.close(descriptor)
    return [
        _array(each, known[each.number]) if isinstance(each, Handle) else each for each in arguments
    ]


def _array(handle: Handle, memory: Memory) -> NDArray[Any]:
    return np.ndarray(handle.shape, handle.dtype, buffer=memory)
