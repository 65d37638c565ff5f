"""The driver of a load from several hosts: JMeter's remote engines. A trial is a window of its own,
for each is a JMeter run of its own; cells are measured in random order (method, rule 2)."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from restbench.drive import engine_clocks, engines
from restbench.drive.engines import Engines
from restbench.experiment.cell import Cell
from restbench.experiment.open_load import EngineLoad
from restbench.experiment.order import Order
from restbench.failures import EnvironmentProblem
from restbench.machine import namespaces
from restbench.machine.namespaces import Host
from restbench.machine.phases import spent_on
from restbench.schedule import preparation, under_load
from restbench.schedule.block_run import Driver, LoadRun, Progress, View, Wanted
from restbench.schedule.pace import Planned
from restbench.schedule.reduction import helpers_ms, reduced
from restbench.store.store import Run
from restbench.store.trials import Trial

GROUP = "windows"
SERVICE, CONTROLLER = "service", "control"


@dataclass
class EnginesDriver:
    """Windows of one block (Driver)."""

    here: LoadRun
    load: EngineLoad

    def rounds(self, seconds: float) -> Iterator[Sequence[Planned]]:
        """A window of each cell, in random order; none that would not end in time."""
        ends = time.monotonic() + seconds
        cells = self.here.cells
        random.Random(f"{self.here.order.experiment.seed} {self.here.block}").shuffle(cells)  # noqa: S311
        self.here.progress.planned = len(cells)
        for number, cell in enumerate(cells, start=1):
            if time.monotonic() + self.load.seconds > ends and number > 1:
                self.here.view.note(f"      {cell.id}  no time in this block")
                continue
            yield [Planned(GROUP, number, cell, "")]

    def trial(self, planned: Planned) -> Trial:
        """One window."""
        here, cell = self.here, planned.cell
        pids = here.running(cell).service.pids()
        before = helpers_ms(pids)
        sent = here.load.trial(cell.id, cell.users, self.load.warmup_s, self.load.window_s, pids)
        here.count(cell, sent.records.size)
        helpers = [b - a for a, b in zip(before, helpers_ms(pids), strict=True)]
        found = reduced(here.block, planned, cell.users, sent, pids, helpers)
        if not found.completions and not found.wrong:
            raise EnvironmentProblem(sent.first_error or "no answer while it was measured")
        return found

    def again(self, cell: Cell, why: str) -> str | None:
        """On the service as it is, or on a fresh one; an engine that is gone stays gone."""
        if isinstance(self.here.load, Engines) and not self.here.load.alive():
            return why
        return self.here.renew_if_dead(cell)


@contextmanager
def opened(order: Order, run: Run, wanted: Wanted, view: View) -> Iterator[Driver]:
    """The driver of a block: services up and proven, engines running."""
    load = order.experiment.engines
    if load is None:
        raise TypeError("engines without their table")  # the experiment's file has one
    folder = run.path / "load" / f"block-{wanted.block}"
    users = max((cell.users for group in wanted.groups for cell in group.cells), default=1)
    with ExitStack() as stack:
        host: Host | None = None
        if load.hosts == "namespaces":
            names = [f"gen-{number}" for number in range(1, load.count + 1)]
            hosts = stack.enter_context(namespaces.made([SERVICE, CONTROLLER, *names]))
            host = hosts[SERVICE]
            running = engines.started([hosts[it] for it in names], hosts[CONTROLLER], folder, users)
            generator = stack.enter_context(running)
        else:
            generator = engines.attached(load.addresses, folder, users)
        deployments = stack.enter_context(under_load.services(order, run, wanted, view, host))
        progress = Progress(wanted.block, until=time.monotonic() + wanted.seconds)
        here = LoadRun(order, run, wanted, deployments, view, progress, load=generator)
        with spent_on("proofs"):
            preparation.look(here)
            preparation.prove(here)
            if load.hosts == "addresses":
                here.file.fact(wanted.block, "engine_clocks_ms", found := generator.offsets_ms())
                engine_clocks.require_together(found)
        before = under_load.counted(here)
        yield EnginesDriver(here, load)
        under_load.check(here, before)
