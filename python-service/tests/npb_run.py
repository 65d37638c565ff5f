"""Runs of the NAS kernels for tests."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from restbench_service.execution.job import InOrderLoop
from restbench_service.workloads.npb.kernel import Outcome
from restbench_service.workloads.npb.workload import KERNELS
from restbench_service.workloads.workload import Body, ParallelLoop


class OneUnitATask(InOrderLoop):
    """In order, cut as finely as a loop may, the last unit first."""

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:  # noqa: ARG002
        for unit in reversed(range(units)):
            body(unit, unit + 1, *arguments)


class SinglePrecision(InOrderLoop):
    """Gives arrays of half the precision that was asked for."""

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
        halves: dict[Any, Any] = {np.dtype("f8"): np.float32, np.dtype("c16"): np.complex64}
        return np.empty(shape, halves.get(np.dtype(dtype), dtype))


def size_of(kernel: str, class_name: str) -> Any:
    return KERNELS[kernel].classes[class_name]


def run(kernel: str, size: Any, loop: ParallelLoop | None = None) -> Outcome:
    return KERNELS[kernel].run(size, None, loop or InOrderLoop())
