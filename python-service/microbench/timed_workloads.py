"""Workloads of which one part alone takes time. Small and picklable: they go to other processes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from restbench_service.settings import Settings
from restbench_service.workloads.catalogue import Limits, workloads
from restbench_service.workloads.workload import Loop, Workload

INNER, COLUMNS = 50, 20
"""Of the second operand of the study's rows sweep and its larger levels."""
UNWRITTEN = b""


def matrix(kernel: str) -> Workload[Any, Any]:
    """The matrix workload, as the service makes it for a request."""
    query: Mapping[str, Sequence[str]] = {"kernel": [kernel]}
    return workloads(limits())["matrix"](query)


def limits() -> Limits:
    """The service's own, without settings to change them."""
    settings = Settings()
    return Limits(
        product_elements=settings.most_product_elements,
        working_bytes=settings.most_working_bytes,
        cached_bytes=settings.cached_bytes_a_process,
    )


@lru_cache(maxsize=1)
def parsed(body: Path, kernel: str) -> Any:
    """The operands of a body, read once in each process that computes with them."""
    return matrix(kernel).parse(body.read_bytes())


@dataclass(frozen=True)
class ComputeOnly:
    """A request that was parsed before, and whose result nobody reads."""

    body: Path
    kernel: str

    @property
    def kind(self) -> str:
        """See Workload."""
        return matrix(self.kernel).kind

    def operations(self, value: Any) -> float:
        """See Workload."""
        return matrix(self.kernel).operations(value)

    def parse(self, body: bytes) -> Any:  # noqa: ARG002 - read before
        """See Workload."""
        return parsed(self.body, self.kernel)

    def compute(self, value: Any, loop: Loop) -> Any:
        """See Workload."""
        return matrix(self.kernel).compute(value, loop)

    def serialize(self, result: Any) -> bytes:  # noqa: ARG002 - unread
        """See Workload."""
        return UNWRITTEN

    def request_id(self, body: bytes) -> None:
        """See Workload."""

    @property
    def needs_memory(self) -> bool:
        """See Workload."""
        return False

    def working_bytes(self, body: bytes) -> int:  # noqa: ARG002 - as the matrix workload
        """See Workload."""
        return 0


@dataclass(frozen=True)
class NothingToDo:
    """A loop over the elements of so many rows, a row a task, in which nothing is done."""

    rows: int

    @property
    def kind(self) -> str:
        """That of what it stands for: a strategy that chooses is to choose as it would for it."""
        return matrix("native").kind

    def operations(self, value: int) -> float:
        """Those of the product that it stands for."""
        return float(value * INNER)

    def parse(self, body: bytes) -> int:  # noqa: ARG002 - none
        """See Workload."""
        return self.rows * COLUMNS

    def compute(self, value: int, loop: Loop) -> int:
        """See Workload."""
        loop.for_each(value, COLUMNS, do_nothing)
        return value

    def serialize(self, result: int) -> bytes:  # noqa: ARG002 - unread
        """See Workload."""
        return UNWRITTEN

    def request_id(self, body: bytes) -> None:
        """See Workload."""

    @property
    def needs_memory(self) -> bool:
        """See Workload."""
        return False

    def working_bytes(self, body: bytes) -> int:  # noqa: ARG002 - none
        """See Workload."""
        return 0


def do_nothing(start: int, stop: int) -> None:
    """The body of a loop."""
