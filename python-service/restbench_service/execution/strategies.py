"""The table of execution techniques."""

import socket

from .pool.pool import ProcessPool
from .process_per_element import ProcessPerElement
from .process_per_request import ProcessPerRequest
from .serial import Serial
from .strategy import Strategy


def start_strategies(
    processes: int, running: int | None, modules: tuple[str, ...]
) -> dict[str, Strategy]:
    """Every technique by its name, its processes starting. To be called after gunicorn's fork.

    `processes` is the size of each pool, `running` the limit of requests at once under a technique
    (None: its own), `modules` what the processes import before their first request.
    """
    requests = ProcessPool("requests", "PR", socket.SOCK_STREAM, processes, modules)
    elements = ProcessPool("elements", "PE", socket.SOCK_SEQPACKET, processes, modules)
    table: list[Strategy] = [
        Serial(running),
        ProcessPerElement(elements, running),
        ProcessPerRequest(requests, running),
    ]
    return {strategy.name: strategy for strategy in table}
