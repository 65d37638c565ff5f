"""Load on a fresh service process before its first window: a JVM compiles what it has seen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx

from restbench.deploy.service import Service
from restbench.drive.payload import Payload, requests_of
from restbench.drive.practice import WARMING_CLIENTS, practise
from restbench.drive.session import Session, end_of_log, renew_if_spent
from restbench.experiment.cell import Cell
from restbench.experiment.order import Order
from restbench.experiment.records import PlannedCell
from restbench.machine.phases import spent_on
from restbench.store.store import Run


@spent_on("service warm-up")
def warm_all(order: Order, run: Run, group: Sequence[PlannedCell], session: Session) -> None:
    """Load on each strategy of a fresh process, with its smallest matrices: the more requests, the
    more of the way is compiled when the first window opens. Then the load itself, as practice.

    A strategy that a service dies of twice is unfit; the others are warmed up on another process.
    A spent process is replaced first: it would be warmed up for nothing.
    """
    renew_if_spent(run, group[0], session)
    died: set[str] = set()
    while (strategy := _dies_of(order, group, session)) is not None:
        if strategy in died:
            session.unfit[strategy] = f"the service died of its warm-up{end_of_log(session)}"
        died.add(strategy)
        session.spent = True
        renew_if_spent(run, group[0], session)
    practise(order, run, _fit(group, session), session)
    session.spent = not session.service.serves()
    session.cold = False


def _dies_of(order: Order, group: Sequence[PlannedCell], session: Session) -> str | None:
    """Warm up what is fit; the strategy that the service died of, None where it lives."""
    for cell in _smallest(order, group, session):
        _warm(session.service, cell, order)
        if not session.service.serves():
            return cell.strategy
    return None


def _smallest(order: Order, group: Sequence[PlannedCell], session: Session) -> list[Cell]:
    """The smallest cell of each strategy that can be measured."""

    def work(cell: Cell) -> int:
        return _smallest_payload(order, cell).shape.products

    cells = sorted(_fit(group, session), key=work)
    return list({cell.strategy: cell for cell in reversed(cells)}.values())


def _fit(group: Sequence[PlannedCell], session: Session) -> list[Cell]:
    return [each.cell for each in group if session.can_measure(each.cell.strategy)]


def _smallest_payload(order: Order, cell: Cell) -> Payload:
    payloads = requests_of(order.experiment, cell.complexity).payloads.values()
    return min(payloads, key=lambda each: each.shape.products)


def _warm(target: Service, cell: Cell, order: Order) -> None:
    payload = _smallest_payload(order, cell)
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
