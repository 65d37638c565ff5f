"""The table of workloads: the first part of the path, and how a request's query makes one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .matrix.workload import MatrixWorkload
from .workload import Workload

Query = Mapping[str, Sequence[str]]

WORKLOADS: dict[str, Callable[[Query], Workload[Any, Any]]] = {
    "matrix": MatrixWorkload.from_query,
}
