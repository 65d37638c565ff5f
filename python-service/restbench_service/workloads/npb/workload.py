"""The workload npb-is, npb-cg, npb-mg or npb-ft: the three stages around a kernel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import orjson

from ..request_object import readable_id
from ..workload import InvalidRequestError, Loop
from .input_cache import OF_THIS_PROCESS
from .kernel import Kernel, Outcome
from .kernels import KERNELS
from .request import NpbRequest, read_request

MEBIBYTE = 2**20


@dataclass(frozen=True)
class NpbResult:
    """An outcome, whose it is, and how long the whole of it took."""

    request: NpbRequest
    outcome: Outcome
    total_seconds: float


@dataclass(frozen=True)
class NpbWorkload:
    """POST /npb-…/{strategy}. A request that needs more than `most_bytes` is refused.

    A process keeps inputs of up to `cache_bytes` for requests that do not want their own.
    """

    kernel_name: str
    most_bytes: int
    cache_bytes: int

    @classmethod
    def from_query(
        cls,
        kernel_name: str,
        most_bytes: int,
        cache_bytes: int,
        query: Mapping[str, Sequence[str]],  # noqa: ARG003 - the kernels have no parameters
    ) -> Self:
        """Whatever the query."""
        return cls(kernel_name, most_bytes, cache_bytes)

    @property
    def kind(self) -> str:
        """A kernel's own operations are all alike."""
        return f"npb-{self.kernel_name.lower()}"

    def operations(self, value: NpbRequest) -> float:
        """Of the region that NPB times."""
        return self._kernel.operations(self._size(value))

    def parse(self, body: bytes) -> NpbRequest:
        """Errors 002, 003, and 010 if the class needs too much memory."""
        request = read_request(body, self._kernel.classes)
        needed_bytes = self._needed_bytes(request)
        if needed_bytes > self.most_bytes:
            needed, most = -(-needed_bytes // MEBIBYTE), self.most_bytes // MEBIBYTE
            message = f"class: {request.class_name} needs {needed} MiB of memory, "
            raise InvalidRequestError(
                "010", f"{message}the limit is {most} MiB", request.request_id
            )
        return request

    def compute(self, value: NpbRequest, loop: Loop) -> NpbResult:
        """Whether the result is verified is part of it."""
        began = perf_counter()
        given = None if value.generate else self._cached(value)
        outcome = self._kernel.run(self._size(value), given, loop)
        return NpbResult(value, outcome, perf_counter() - began)

    def serialize(self, result: NpbResult) -> bytes:
        """The contract's members in its order."""
        outcome, seconds = result.outcome, result.outcome.kernel_seconds
        members = {
            "requestId": str(result.request.request_id),
            "kernel": self.kernel_name,
            "class": result.request.class_name,
            "verified": outcome.verified,
            "value": outcome.value,
            "reference": outcome.reference,
            "iterations": outcome.iterations,
            "kernelSeconds": seconds,
            "totalSeconds": result.total_seconds,
            "mops": self._kernel.operations(self._size(result.request)) / 1e6 / seconds,
        }
        return orjson.dumps(members)

    def request_id(self, body: bytes) -> str | int | None:
        """For the log and the answer to a fault."""
        return readable_id(body)

    @property
    def needs_memory(self) -> bool:
        """See Workload."""
        return True

    def working_bytes(self, body: bytes) -> int:
        """What compute holds at its peak; 0 where parse will refuse the body."""
        try:
            return self._needed_bytes(self.parse(body))
        except InvalidRequestError:
            return 0

    @property
    def _kernel(self) -> Kernel[Any, Any]:
        return KERNELS[self.kernel_name]

    def _needed_bytes(self, request: NpbRequest) -> int:
        """An input that is not cached in the end lies beside the kernel's own copy of it."""
        size = self._size(request)
        own_bytes = 0 if request.generate else self._kernel.input_bytes(size)
        return self._kernel.memory_bytes(size) + own_bytes

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
