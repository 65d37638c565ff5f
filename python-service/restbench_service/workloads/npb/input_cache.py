"""A cache of inputs that earlier requests of this process have generated.

Each process has one cache for all kernels, so that one limit holds for all of their inputs. It is
not part of a workload, because workloads are pickled with every request for a pool's process.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

import numpy as np

Input = TypeVar("Input")


class InputCache:
    """The most recently used inputs, as many as fit. Requests share and never write them."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._inputs: OrderedDict[tuple[str, str], tuple[int, Any]] = OrderedDict()

    @property
    def held_bytes(self) -> int:
        """The size of all cached inputs in bytes."""
        return sum(size_bytes for size_bytes, _ in self._inputs.values())

    def get(
        self, key: tuple[str, str], size_bytes: int, limit_bytes: int, build: Callable[[], Input]
    ) -> Input:
        """The input of this key, built if it is not there.

        It is cached if it fits within the limit; the least recently used inputs are removed for it.
        If two requests build the same input at the same time, one of the two results is cached.
        """
        with self._guard:
            if key in self._inputs:
                self._inputs.move_to_end(key)
                found: Input = self._inputs[key][1]
                return found
        built = build()
        _forbid_writing(built)
        if size_bytes <= limit_bytes:
            with self._guard:
                self._inputs.pop(key, None)
                while self.held_bytes + size_bytes > limit_bytes:
                    self._inputs.popitem(last=False)
                self._inputs[key] = (size_bytes, built)
        return built


OF_THIS_PROCESS = InputCache()


def _forbid_writing(built: Any) -> None:
    for array in (built,) if isinstance(built, np.ndarray) else built:
        array.flags.writeable = False
