"""The workloads npb-is, npb-cg, npb-mg and npb-ft: a timed run of one NAS kernel."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np

from ..workload import ParallelLoop, Workload
from .conjugate_gradient import ConjugateGradient
from .fourier_transform import FourierTransform
from .integer_sort import IntegerSort
from .kernel import Kernel, Outcome
from .multigrid import Multigrid

KERNELS: dict[str, Kernel[Any, Any]] = {
    "IS": IntegerSort(),
    "CG": ConjugateGradient(),
    "MG": Multigrid(),
    "FT": FourierTransform(),
}
"""The kernels by name. They have no state."""


@dataclass(frozen=True)
class NpbRequest:
    """A valid request: `class_name` is one of the kernel's classes."""

    request_id: str | int
    class_name: str
    generate: bool
    """Whether to generate the input for this request. If False, a cached input may be used."""


@dataclass(frozen=True)
class NpbResult:
    """A request's outcome, its total time, and the number of operations in the timed region."""

    request: NpbRequest
    outcome: Outcome
    total_seconds: float
    operations: float


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
        self, key: tuple[str, str], size_bytes: int, limit_bytes: int, build: Callable[[], Any]
    ) -> Any:
        """The input of this key, built if it is not there.

        It is cached if it fits within the limit; the least recently used inputs are removed for it.
        If two requests build the same input at the same time, one of the two results is cached.
        """
        with self._guard:
            if key in self._inputs:
                self._inputs.move_to_end(key)
                return self._inputs[key][1]
        built = build()
        for array in (built,) if isinstance(built, np.ndarray) else built:
            array.flags.writeable = False
        if size_bytes <= limit_bytes:
            with self._guard:
                self._inputs.pop(key, None)
                while self.held_bytes + size_bytes > limit_bytes:
                    self._inputs.popitem(last=False)
                self._inputs[key] = (size_bytes, built)
        return built


OF_THIS_PROCESS = InputCache()
"""One for all kernels, so that one limit holds for all their inputs. It is not part of a workload,
because workloads are pickled with every request for a pool's process."""


@dataclass(frozen=True)
class NpbWorkload(Workload[NpbRequest, NpbResult]):
    """Each process caches inputs of up to `cache_bytes` for requests without `generate`."""

    kernel_name: str
    cache_bytes: int
    holds_memory = True

    @property
    def name(self) -> str:
        """See Workload."""
        return f"npb-{self.kernel_name.lower()}"

    def operations(self, value: NpbRequest) -> float:
        """The number of operations in the region that NPB times."""
        return self._kernel.operations(self._size(value))

    def working_bytes(self, value: NpbRequest) -> int:
        """See Workload. An input from the cache counts, too: it may not be cached in the end, and
        is then held next to the kernel's copy of it."""
        size = self._size(value)
        own_bytes = 0 if value.generate else self._kernel.input_bytes(size)
        return self._kernel.memory_bytes(size) + own_bytes

    def subject(self, value: NpbRequest) -> str:
        """See Workload."""
        return f"class: {value.class_name}"

    def compute(self, value: NpbRequest, loop: ParallelLoop) -> NpbResult:
        """See Workload. A result that fails verification is a result, not an error."""
        began = perf_counter()
        given = None if value.generate else self._cached(value)
        outcome = self._kernel.run(self._size(value), given, loop)
        return NpbResult(value, outcome, perf_counter() - began, self.operations(value))

    @property
    def _kernel(self) -> Kernel[Any, Any]:
        return KERNELS[self.kernel_name]

    def _size(self, request: NpbRequest) -> Any:
        return self._kernel.classes[request.class_name]

    def _cached(self, request: NpbRequest) -> Any:
        size = self._size(request)
        return OF_THIS_PROCESS.get(
            (self.kernel_name, request.class_name),
            self._kernel.input_bytes(size),
            self.cache_bytes,
            lambda: self._kernel.generate(size),
        )
