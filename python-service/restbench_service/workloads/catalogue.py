"""The table of workloads: the first part of the path, and how a request's query makes one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .matrix import samples as matrix_samples
from .matrix.workload import MatrixWorkload
from .npb import samples as npb_samples
from .npb.kernels import KERNELS
from .npb.workload import NpbWorkload
from .workload import Sample, Workload

Query = Mapping[str, Sequence[str]]
Factory = Callable[[Query], Workload[Any, Any]]


@dataclass(frozen=True)
class Limits:
    """What no request may exceed."""

    product_elements: int
    """Of the largest answer of the matrix workload."""
    working_bytes: int
    """Of a kernel's memory."""
    cached_bytes: int
    """Of the inputs that a process keeps."""


def workloads(limits: Limits) -> dict[str, Factory]:
    """Every workload by its name."""
    kernel_limits = (limits.working_bytes, limits.cached_bytes)
    return {
        "matrix": partial(MatrixWorkload.from_query, limits.product_elements),
        **{
            f"npb-{name.lower()}": partial(NpbWorkload.from_query, name, *kernel_limits)
            for name in KERNELS
        },
    }


def samples(limits: Limits) -> list[Sample]:
    """Requests from which a technique can learn how long those of every workload take."""
    return [
        *matrix_samples.samples(limits.product_elements),
        *npb_samples.samples(limits.working_bytes),
    ]
