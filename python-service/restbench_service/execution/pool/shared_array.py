"""Arrays that several processes see, in anonymous memory that is passed on as a file descriptor.

The memory has no name, so nothing can be left in /dev/shm, however a process ends: the kernel
frees it with the last descriptor and mapping.
"""

import mmap
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


@dataclass(frozen=True)
class Shape:
    """What a process needs to see a descriptor's memory as an array."""

    shape: tuple[int, ...]
    dtype: str


def create(shape: tuple[int, ...], dtype: DTypeLike) -> tuple[int, NDArray[Any]]:
    """A descriptor, which the caller closes, and an array on its memory, which outlives it."""
    item_type = np.dtype(dtype)
    descriptor = os.memfd_create("restbench-array")
    os.ftruncate(descriptor, max(1, int(np.prod(shape)) * item_type.itemsize))
    return descriptor, attach(descriptor, Shape(shape, item_type.str))


def attach(descriptor: int, shape: Shape) -> NDArray[Any]:
    """The array in the descriptor's memory."""
    return np.ndarray(shape.shape, shape.dtype, buffer=mmap.mmap(descriptor, 0))
