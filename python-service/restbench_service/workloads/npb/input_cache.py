"""Inputs that an earlier request of this process has built, for those that want none of their own.

Each process has one: a workload comes to a pool's process anew with every request, so what is to
stay there cannot be the workload's.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

import numpy as np

Input = TypeVar("Input")


class InputCache:
    """The inputs used last, as many as fit. They are shared between requests and never written."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._inputs: OrderedDict[tuple[str, str], tuple[int, Any]] = OrderedDict()

    @property
    def held_bytes(self) -> int:
        """Of all inputs."""
        return sum(size_bytes for size_bytes, _ in self._inputs.values())

    def get(
        self, key: tuple[str, str], size_bytes: int, limit_bytes: int, build: Callable[[], Input]
    ) -> Input:
        """The input of this key, built if it is not there.

        It is kept if it fits within the limit at all; those not used for longest make room. Two
        requests that build the same at once both do so, and one of the two stays.
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
