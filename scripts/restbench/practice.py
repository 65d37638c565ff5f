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
from collections.abc import Iterator, Sequence
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
from restbench.session import Session
from restbench.store import Run

#: After that JMeter ends by itself, should nobody stop it.
LONGEST_S = 300.0


def cells_of(cells: Sequence[Cell], order: Order) -> list[Cell]:
    """What is practised: each strategy, for code that only one of them had been through would be
    an advantage of that one; with its middle size, and the most users that it has there."""
    by_strategy: dict[str, list[Cell]] = {}
    for cell in cells:
        by_strategy.setdefault(cell.strategy, []).append(cell)
    return [_middle(each, order) for each in by_strategy.values()]


def practise(order: Order, run: Run, cells: Sequence[Cell], session: Session) -> None:
    """Load on each strategy, for as long as the profile says; `cells` can be measured."""
    seconds = order.profile.practice_s.get(session.service.name, 0.0)
    if not seconds:
        return
    for cell in cells_of(cells, order):
        folder = Path(tempfile.mkdtemp(prefix="practice-", dir=watch.begin()))
        try:
            with _load(order, run, cell, session, CellFolder(folder)):
                time.sleep(seconds)
        except EnvironmentProblem:
            pass  # what goes wrong here goes wrong again in a cell, which records it
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _middle(cells: Sequence[Cell], order: Order) -> Cell:
    sizes = {cell.complexity: _products(order, cell) for cell in cells}
    names = sorted(sizes, key=lambda name: (sizes[name], name))
    middle = names[(len(names) - 1) // 2]
    at_middle = (cell for cell in cells if cell.complexity == middle)
    return max(at_middle, key=lambda cell: cell.users)


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
