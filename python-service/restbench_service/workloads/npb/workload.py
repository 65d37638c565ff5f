"""The workloads npb-is, npb-cg, npb-mg and npb-ft: a timed run of one NAS kernel."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from ..workload import ParallelLoop, Workload
from .conjugate_gradient import ConjugateGradient
from .fourier_transform import FourierTransform
from .input_cache import OF_THIS_PROCESS
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
