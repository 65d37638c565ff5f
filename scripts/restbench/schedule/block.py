"""One block: trials of every cell on processes that are fresh for it (method, rules 1-5)."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

from restbench.experiment.order import Order
from restbench.machine import clock, speed
from restbench.machine.phases import spent_on
from restbench.machine.placement import allowed_cores, place
from restbench.schedule import npb, under_load
from restbench.schedule.block_run import View, Wanted
from restbench.schedule.closed_load import ClosedDriver
from restbench.schedule.driver import Driver
from restbench.schedule.open_load import OpenDriver
from restbench.schedule.taking import take_round
from restbench.store.store import Run

#: Opens a block of a kind of experiment, by the driver's name in its file: what its trials need is
#: up as long as its context lasts.
DRIVERS: dict[str, Callable[[Order, Run, Wanted, View], AbstractContextManager[Driver]]] = {
    "closed-load": partial(under_load.opened, ClosedDriver),
    "open-load": partial(under_load.opened, OpenDriver),
    "npb": npb.opened,
}


def measure(order: Order, run: Run, wanted: Wanted, view: View) -> None:
    """Measure one block, its start included in its time; its trials are in the run's file.

    What goes wrong with a cell is an event, and its cell has no trials. StorageProblem, and what
    interrupts, are the caller's.
    """
    ends = time.monotonic() + wanted.seconds
    file = run.trials
    cores = place("unbound", allowed_cores(), run.load_cores())
    facts = {"speed": speed.probe(), "load_cores": cores.load, "shared_cores": cores.shared}
    file.begin(wanted.block, clock.now_text(), facts)
    with DRIVERS[order.experiment.driver](order, run, wanted, view) as driver:
        driver.here.progress.until = ends
        with spent_on("trials"):
            for planned in driver.rounds(ends - time.monotonic()):
                take_round(driver, planned)
    file.finish(wanted.block, clock.now_text())
