"""The table of workloads, each with its operations and the codecs of their requests."""

from collections.abc import Callable
from typing import Any, NamedTuple

from .codec.codec import Codec
from .codec.logs import LogsJson
from .codec.matrix import MatrixJson
from .codec.messages import OPERATIONS, MessagesJson
from .codec.npb import NpbJson
from .settings import DatabaseSettings, Settings
from .workloads.logs.workload import LogsWorkload
from .workloads.matrix import MatrixWorkload
from .workloads.npb.workload import KERNELS, NpbWorkload
from .workloads.workload import Workload

UNDIVIDED = ("serial", "process-per-request", "executor-per-request", "worker-pool")
"""Strategies for a workload without loops: the others would be one of these by another name."""


class Operation(NamedTuple):
    """A method on a path below /{workload}/{strategy}, in which {name} stands for any one part."""

    method: str
    path: str
    codec: Callable[[str, tuple[str, ...]], Codec[Any, Any]]
    """Of a request, by the strategy's name and the parts that stand for names."""


class CodedWorkload(NamedTuple):
    """What is offered under the first part of a path."""

    workload: Workload[Any, Any]
    operations: tuple[Operation, ...]
    strategies: tuple[str, ...] | None = None
    """That take it; None: all."""

    @property
    def codec(self) -> Codec[Any, Any]:
        """Of a workload with one operation."""
        (operation,) = self.operations
        return operation.codec("", ())

    def is_offered_under(self, strategy: str) -> bool:
        """By the strategy's name."""
        return self.strategies is None or strategy in self.strategies


def coded_workloads(settings: Settings) -> dict[str, CodedWorkload]:
    """By the workload's name; without a database there are no messages."""
    max_delay_ms, cached_bytes = settings.max_delay_millis, settings.cached_bytes_a_process
    offered = [
        _computing(MatrixWorkload(), MatrixJson(settings.most_product_elements, max_delay_ms)),
        _computing(LogsWorkload(), LogsJson(max_delay_ms)),
        *(
            _computing(NpbWorkload(name, cached_bytes), NpbJson(name, max_delay_ms))
            for name in KERNELS
        ),
    ]
    if (database := settings.database) is not None:
        offered.append(_messages(database, max_delay_ms))
    return {each.workload.name: each for each in offered}


def _computing(workload: Workload[Any, Any], codec: Codec[Any, Any]) -> CodedWorkload:
    return CodedWorkload(workload, (Operation("POST", "", lambda _name, _values: codec),))


def _messages(database: DatabaseSettings, max_delay_ms: int) -> CodedWorkload:
    # Not before: who has no database need not have its driver in memory.
    from .workloads.messages.workload import MessagesWorkload  # noqa: PLC0415

    def operation(name: str) -> Operation:
        method, path = OPERATIONS[name]
        limits = (max_delay_ms, database.max_message_characters)
        return Operation(
            method, path, lambda strategy, values: MessagesJson(name, *limits, strategy, values)
        )

    return CodedWorkload(MessagesWorkload(database), tuple(map(operation, OPERATIONS)), UNDIVIDED)
