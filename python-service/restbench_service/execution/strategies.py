"""The table of execution techniques."""

import socket
from collections.abc import Callable
from dataclasses import dataclass

from .pool.pool import ProcessPool
from .process_per_element import ProcessPerElement
from .process_per_request import ProcessPerRequest
from .serial import Serial
from .strategy import Strategy


@dataclass(frozen=True)
class Start:
    """What a technique is started with.

    `processes` is the size of its pool, `running` the limit of requests at once under it (None:
    its own), `modules` what the processes import before their first request.
    """

    processes: int
    running: int | None
    modules: tuple[str, ...]

    def pool(self, kind: str, name: str, socket_type: socket.SocketKind) -> ProcessPool:
        """Running processes of this kind."""
        return ProcessPool(kind, name, socket_type, self.processes, self.modules)


def _serial(start: Start) -> Strategy:
    return Serial(start.running)


def _process_per_element(start: Start) -> Strategy:
    return ProcessPerElement(start.pool("elements", "PE", socket.SOCK_SEQPACKET), start.running)


def _process_per_request(start: Start) -> Strategy:
    return ProcessPerRequest(start.pool("requests", "PR", socket.SOCK_STREAM), start.running)


TECHNIQUES: dict[str, Callable[[Start], Strategy]] = {
    "serial": _serial,
    "process-per-element": _process_per_element,
    "process-per-request": _process_per_request,
}
"""By name, in the order GET /strategies lists them. To be called after gunicorn's fork."""


def start_strategies(
    processes: int, running: int | None, modules: tuple[str, ...]
) -> dict[str, Strategy]:
    """Every technique, its processes starting; see Start."""
    start = Start(processes, running, modules)
    return {name: technique(start) for name, technique in TECHNIQUES.items()}
