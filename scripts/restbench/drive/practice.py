"""The load itself on a fresh service process, before its first cell; what it shows is thrown away.

Single clients warm a process up as far as they go. A JVM compiles anew what meets many at once, or
larger sizes, and whichever cell came first had to wait for that: measured with ten users, its
throughput was a third lower than that of the same cell a few seconds later. A service that compiles
nothing needs no practice.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx

from restbench.deploy.service import Service
from restbench.drive import load
from restbench.drive.measure import drained
from restbench.drive.payload import Payload, requests_of
from restbench.drive.session import Session
from restbench.experiment.cell import Cell
from restbench.experiment.order import Order
from restbench.failures import EnvironmentProblem
from restbench.machine import watch
from restbench.machine.placement import core_list
from restbench.store.cell_folder import CellFolder
from restbench.store.store import Run

#: So many at once are warmed up with before; practice is for more.
WARMING_CLIENTS = 4
#: After that a load ends by itself, should nobody stop it.
LONGEST_S = 300.0


def cells_of(cells: Sequence[Cell], order: Order) -> list[list[Cell]]:
    """What can be practised of each strategy, for code that only one of them had been through would
    be an advantage of that one: its middle size, and the smaller ones should that be too much, each
    with more users than it was warmed up with, but no more than that: a technique with a thread
    for each row answers sixty of them for longer than it practises."""
    by_strategy: dict[str, list[Cell]] = {}
    for cell in cells:
        by_strategy.setdefault(cell.strategy, []).append(cell)
    return [_from_middle(each, order) for each in by_strategy.values()]


def practise(order: Order, run: Run, cells: Sequence[Cell], session: Session) -> None:
    """Load on each strategy, for as long as the profile says; `cells` can be measured. The next
    one's JMeter comes up while one is at work, for nothing is measured."""
    seconds = order.profile.practice_s.get(session.service.name, 0.0)
    if not seconds:
        return
    folder = Path(tempfile.mkdtemp(prefix="practice-", dir=watch.begin()))
    with ExitStack() as left:
        left.callback(shutil.rmtree, folder, ignore_errors=True)
        ready: load.LoadRun | None = None
        for number, sizes in enumerate([*cells_of(cells, order), None]):
            coming = _start(sizes, order, run, session, folder / str(number)) if sizes else None
            if coming:
                left.callback(coming.stop)
            if ready:
                _work(ready, seconds, session)
            ready = coming


def _from_middle(cells: Sequence[Cell], order: Order) -> list[Cell]:
    def products(cell: Cell) -> int:
        return _largest(cell, order).shape.products

    def fitness(cell: Cell) -> tuple[bool, int]:
        more = cell.users > WARMING_CLIENTS
        return more, -cell.users if more else cell.users

    wanted = {cell.complexity: cell for cell in sorted(cells, key=fitness)}
    rising = sorted(wanted.values(), key=lambda each: (products(each), each.complexity))
    return rising[(len(rising) - 1) // 2 :: -1]


def _largest(cell: Cell, order: Order) -> Payload:
    payloads = requests_of(order.experiment, cell.complexity).payloads.values()
    return max(payloads, key=lambda each: each.shape.products)


def _bearable(sizes: Sequence[Cell], order: Order, service: Service, seconds: float) -> Cell:
    """The first that leaves no work behind for longer than the practice, or the last: when it ends
    a request of each user is in flight. The first of two requests may meet code not compiled."""
    *larger, smallest = sizes
    for cell in larger:
        payload = _largest(cell, order)
        if any(_took(service, cell, payload) * cell.users <= seconds for _ in range(2)):
            return cell
    return smallest


def _took(service: Service, cell: Cell, payload: Payload) -> float:
    began = time.monotonic()
    with suppress(httpx.HTTPError):
        service.post(cell.strategy, cell.kernel, payload.body("practice"))
    return time.monotonic() - began


def _start(
    sizes: Sequence[Cell], order: Order, run: Run, session: Session, folder: Path
) -> load.LoadRun | None:
    """A JMeter that waits to be let go; None where none comes up, which goes wrong again in a cell
    and is recorded there."""
    folder.mkdir()
    with suppress(EnvironmentProblem):
        cell = _bearable(
            sizes, order, session.service, order.profile.practice_s[session.service.name]
        )
        target = load.Target(
            cell=cell,
            address=session.service.address,
            payload=run.payload(cell.complexity),
            duration_s=LONGEST_S,
            plan=load.PLANS_OF[order.experiment.client],
        )
        return load.start(target, CellFolder(folder), core_list(session.cores.load), waits=True)
    return None


def _work(jmeter: load.LoadRun, seconds: float, session: Session) -> None:
    with suppress(EnvironmentProblem):  # as above
        jmeter.let_go()
        jmeter.await_started()
        time.sleep(seconds)
    jmeter.stop()
    session.busy = not drained(session.service)
