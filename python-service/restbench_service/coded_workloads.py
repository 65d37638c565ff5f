"""The table of workloads, each with the codec of its requests."""

from typing import Any, NamedTuple

from .codec.codec import Codec
from .codec.logs import LogsJson
from .codec.matrix import MatrixJson
from .codec.npb import NpbJson
from .workloads.logs.workload import LogsWorkload
from .workloads.matrix.workload import MatrixWorkload
from .workloads.npb.kernels import KERNELS
from .workloads.npb.workload import NpbWorkload
from .workloads.workload import Workload


class CodedWorkload(NamedTuple):
    """What is offered under the first part of a path."""

    workload: Workload[Any, Any]
    codec: Codec[Any, Any]


def coded_workloads(
    most_product_elements: int, cached_bytes: int, max_delay_ms: int = 0
) -> dict[str, CodedWorkload]:
    """By the workload's name. `cached_bytes` are for the inputs that each process keeps."""
    offered = [
        CodedWorkload(MatrixWorkload(), MatrixJson(most_product_elements, max_delay_ms)),
        CodedWorkload(LogsWorkload(), LogsJson(max_delay_ms)),
        *(
            CodedWorkload(NpbWorkload(name, cached_bytes), NpbJson(name, max_delay_ms))
            for name in KERNELS
        ),
    ]
    return {each.workload.name: each for each in offered}
