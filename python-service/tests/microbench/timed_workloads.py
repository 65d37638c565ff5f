"""Workloads of which one part alone takes time. Small and picklable: they go to other processes.

Each is its own codec, so that nothing is read and nothing written.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from restbench_service.codec.matrix import MatrixJson
from restbench_service.execution.job import Job
from restbench_service.settings import Settings
from restbench_service.workloads.matrix import MatrixWorkload
from restbench_service.workloads.workload import ParallelLoop, Workload

INNER, COLUMNS = 50, 20
"""Of the second operand of the study's rows sweep and its larger levels."""
NOTHING = b""

MATRIX, CODEC = MatrixWorkload(), MatrixJson(Settings().most_product_elements)


@lru_cache(maxsize=1)
def decoded(body: Path, kernel: str) -> Any:
    """The operands of a body, read once in each process that computes with them."""
    return CODEC.decode(body.read_bytes(), f"kernel={kernel}")


@dataclass(frozen=True)
class _Timed(Workload[Any, Any]):
    """What the two have in common."""

    def encode(self, output: Any) -> bytes:  # noqa: ARG002 - unread
        """See Codec."""
        return NOTHING

    def query_kind(self, query: str) -> str:  # noqa: ARG002 - has none
        """See Codec."""
        return ""

    def identify(self, body: bytes) -> None:
        """See Codec."""


def job(timed: "ComputeOnly | NothingToDo") -> Job:
    """A request for it."""
    return Job(timed, timed, NOTHING)


@dataclass(frozen=True)
class ComputeOnly(_Timed):
    """A request that was decoded before, and whose result nobody reads."""

    body: Path
    kernel: str
    name = "compute only"

    def kind(self, value: Any) -> str:
        """See Workload."""
        return MATRIX.kind(value)

    def operations(self, value: Any) -> float:
        """See Workload."""
        return MATRIX.operations(value)

    def decode(self, body: bytes, query: str) -> Any:  # noqa: ARG002 - read before
        """See Codec."""
        return decoded(self.body, self.kernel)

    def compute(self, value: Any, loop: ParallelLoop) -> Any:
        """See Workload."""
        return MATRIX.compute(value, loop)


@dataclass(frozen=True)
class NothingToDo(_Timed):
    """A loop over the elements of so many rows, a row a task, in which nothing is done."""

    rows: int
    name = "nothing"

    def operations(self, value: int) -> float:
        """Those of the product that it stands for."""
        return float(value * INNER)

    def decode(self, body: bytes, query: str) -> int:  # noqa: ARG002 - none
        """See Codec."""
        return self.rows * COLUMNS

    def compute(self, value: int, loop: ParallelLoop) -> int:
        """See Workload."""
        loop.for_each(value, COLUMNS, do_nothing)
        return value


def do_nothing(start: int, stop: int) -> None:
    """The body of a loop."""


def do_nothing_once(unit: int) -> None:
    """A task of a bare pool."""
