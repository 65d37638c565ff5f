"""Load on a fresh service process before its first window: a JVM compiles what it has seen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx

from restbench.cell import Cell
from restbench.order import Order
from restbench.payload import payload_of
from restbench.records import PlannedCell
from restbench.service import Service
from restbench.session import Session

WARMING_CLIENTS = 4


def warm_all(order: Order, group: Sequence[PlannedCell], session: Session) -> None:
    """Load on each strategy of a fresh process, with its smallest matrices: the more requests, the
    more of the way is compiled when the first window opens."""

    def work(cell: Cell) -> int:
        shape = order.experiment.shape(cell.complexity)
        return shape.rows * shape.inner * shape.columns

    offered = (each.cell for each in group if each.cell.strategy in session.offered)
    cells = sorted(offered, key=work)
    for cell in {cell.strategy: cell for cell in reversed(cells)}.values():
        _warm(session.service, cell, order)


def _warm(target: Service, cell: Cell, order: Order) -> None:
    payload = payload_of(order.experiment, cell.complexity)
    deadline = time.monotonic() + order.profile.service_warmup_s[cell.service]

    def send(_client: int) -> None:
        # What goes wrong here goes wrong again in the cell's own verification, which records it.
        with suppress(httpx.HTTPError):
            while time.monotonic() < deadline:
                target.post(cell.strategy, cell.kernel, payload.body("warm")).raise_for_status()

    clients = ThreadPoolExecutor(WARMING_CLIENTS)
    try:
        list(clients.map(send, range(WARMING_CLIENTS)))
    finally:
        # Interrupted, nobody waits for them: the service that they talk to is stopped next.
        clients.shutdown(wait=False, cancel_futures=True)
