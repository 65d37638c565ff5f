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
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from restbench import load, watch
from restbench.cell import Cell
from restbench.cell_folder import CellFolder
from restbench.failures import EnvironmentProblem
from restbench.measure import drained
from restbench.order import Order
from restbench.payload import requests_of
from restbench.placement import core_list
from restbench.profile import LEVELS_PRACTISED
from restbench.session import Session
from restbench.store import Run

#: After that JMeter ends by itself, should nobody stop it.
LONGEST_S = 300.0


def levels(cells: Collection[Cell], order: Order) -> tuple[str, ...]:
    """The complexities that are practised: the smallest, where the way of a request is all there
    is, and the middle one, where its work counts too.
    """
    sizes = {cell.complexity: _products(order, cell) for cell in cells}
    names = sorted(sizes, key=lambda name: (sizes[name], name))
    chosen = (*names[:1], *names[len(names) // 2 :])
    return tuple(dict.fromkeys(chosen))[:LEVELS_PRACTISED]


def practise(order: Order, run: Run, cells: Collection[Cell], session: Session) -> None:
    """Load on each of the levels, for as long as the profile says; `cells` can be measured."""
    seconds = order.profile.practice_s.get(session.service.name, 0.0)
    if not seconds:
        return
    for level in levels(cells, order):
        at_level = (cell for cell in cells if cell.complexity == level)
        # The plainest: what it compiles is on the way of them all.
        cell = min(at_level, key=lambda each: (each.strategy != "serial", -each.users))
        folder = Path(tempfile.mkdtemp(prefix="practice-", dir=watch.begin()))
        try:
            with _load(order, run, cell, session, CellFolder(folder)):
                time.sleep(seconds)
        except EnvironmentProblem:
            pass  # what goes wrong here goes wrong again in a cell, which records it
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _products(order: Order, cell: Cell) -> int:
    payloads = requests_of(order.experiment, cell.complexity).payloads.values()
    return max(payload.shape.products for payload in payloads)


@contextmanager
def _load(
    order: Order, run: Run, cell: Cell, session: Session, folder: CellFolder
) -> Iterator[None]:
    """JMeter sends the cell's requests during the with-block."""
    target = load.Target(
        cell=cell,
        address=session.service.address,
        payload=run.payload(cell.complexity),
        duration_s=LONGEST_S,
        plan=load.PLANS_OF[order.experiment.client],
    )
    jmeter = load.start(target, folder, core_list(session.cores.load))
    try:
        jmeter.await_started()
        yield
    finally:
        jmeter.stop()
    drained(session.service)
