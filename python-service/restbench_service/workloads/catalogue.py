"""The table of workloads: the first part of the path, and how a request's query makes one."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from .matrix.workload import MatrixWorkload
from .workload import Workload

Query = Mapping[str, Sequence[str]]
Factory = Callable[[Query], Workload[Any, Any]]


def workloads(most_elements: int) -> dict[str, Factory]:
    """Every workload by its name; `most_elements` is the size of the largest answer."""
    return {"matrix": partial(MatrixWorkload.from_query, most_elements)}
