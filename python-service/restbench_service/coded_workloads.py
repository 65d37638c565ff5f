"""The table of workloads, each with its operations and the codecs of their requests."""

from collections.abc import Callable
from typing import Any, NamedTuple

from .codec.codec import Codec
from .codec.logs import LogsJson
from .codec.matrix import MatrixJson
from .codec.messages import OPERATIONS, MessagesJson
from .codec.npb import NpbJson
from .settings import Settings
from .workloads.logs.workload import LogsWorkload
from .workloads.matrix import MatrixWorkload
from .workloads.npb.workload import KERNELS, NpbWorkload
from .workloads.workload import Workload

WHOLE_REQUEST_STRATEGIES = ("serial", "process-per-request", "executor-per-request", "worker-pool")
"""Strategies for a workload without loops, where any other would behave like one of these."""


class Operation(NamedTuple):
    """A method on a path below /{workload}/{strategy}, in which {name} stands for any one part."""

    method: str
    path: str
    codec: Callable[[str, tuple[str, ...]], Codec[Any, Any]]
    """Makes the codec of a request from the strategy's name and the values of the {name} parts."""


class CodedWorkload(NamedTuple):
    """A workload with its operations, offered under the first part of a path."""

    workload: Workload[Any, Any]
    operations: tuple[Operation, ...]
    strategies: tuple[str, ...] | None = None
    """Names of the strategies that offer the workload; None: all."""

    def is_offered_under(self, strategy: str) -> bool:
        """Whether the strategy of this name offers the workload."""
        return self.strategies is None or strategy in self.strategies


def coded_workloads(settings: Settings) -> dict[str, CodedWorkload]:
    """All workloads by name; without a database there is no workload `messages`."""
    max_delay_ms, cached_bytes = settings.max_delay_millis, settings.cached_bytes_a_process
    offered = [
        _computing(MatrixWorkload(), MatrixJson(settings.most_product_elements, max_delay_ms)),
        _computing(LogsWorkload(), LogsJson(max_delay_ms)),
        *(
            _computing(NpbWorkload(name, cached_bytes), NpbJson(name, max_delay_ms))
            for name in KERNELS
        ),
    ]
    if settings.database_url is not None:
        offered.append(_messages(settings))
    return {each.workload.name: each for each in offered}


def _computing(workload: Workload[Any, Any], codec: Codec[Any, Any]) -> CodedWorkload:
    return CodedWorkload(workload, (Operation("POST", "", lambda _name, _values: codec),))


def _messages(settings: Settings) -> CodedWorkload:
    # Imported here, so that a service without a database does not load the driver.
    from .workloads.messages.workload import MessagesWorkload  # noqa: PLC0415

    def operation(name: str) -> Operation:
        method, path = OPERATIONS[name]
        limits = (settings.max_delay_millis, settings.max_message_characters)
        return Operation(
            method, path, lambda strategy, values: MessagesJson(name, *limits, strategy, values)
        )

    return CodedWorkload(
        MessagesWorkload(settings), tuple(map(operation, OPERATIONS)), WHOLE_REQUEST_STRATEGIES
    )
