"""The table of execution techniques."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from ..workloads.workload import Sample
from .adaptive import Adaptive
from .calibration_file import NOT_KEPT, CalibrationFile
from .pool.pool import ProcessPool
from .process_per_element import ProcessPerElement
from .process_per_request import ProcessPerRequest
from .serial import Serial
from .strategy import Strategy


@dataclass(frozen=True)
class Start:
    """What a technique is started with.

    `processes` is the size of its pool, `running` the limit of requests at once under it (None:
    its own), `modules` what the processes import before their first request, `samples` requests of
    each kind to learn from what they cost, `calibration` where that is kept.
    """

    processes: int
    running: int | None
    modules: tuple[str, ...]
    samples: tuple[Sample, ...] = ()
    calibration: CalibrationFile = NOT_KEPT

    @cached_property
    def requests_pool(self) -> ProcessPool:
        """For all techniques that give whole requests to processes, each of which may close it."""
        return self.pool("requests", "PR", socket.SOCK_STREAM)

    def pool(self, kind: str, name: str, socket_type: socket.SocketKind) -> ProcessPool:
        """Running processes of this kind."""
        return ProcessPool(kind, name, socket_type, self.processes, self.modules)


def _serial(start: Start) -> Strategy:
    return Serial(start.running)


def _process_per_element(start: Start) -> Strategy:
    return ProcessPerElement(start.pool("elements", "PE", socket.SOCK_SEQPACKET), start.running)


def _process_per_request(start: Start) -> Strategy:
    return ProcessPerRequest(start.requests_pool, start.running)


def _adaptive(start: Start) -> Strategy:
    return Adaptive(start.requests_pool, start.running, start.samples, start.calibration)


TECHNIQUES: dict[str, Callable[[Start], Strategy]] = {
    "serial": _serial,
    "process-per-element": _process_per_element,
    "process-per-request": _process_per_request,
    "adaptive": _adaptive,
}
"""By name, in the order GET /strategies lists them. To be called after gunicorn's fork."""


def start_strategies(start: Start) -> dict[str, Strategy]:
    """Every technique, its processes starting."""
    return {name: technique(start) for name, technique in TECHNIQUES.items()}
