"""The driver of a load from several hosts, by JMeter's remote engines. A trial is a long window, as
it is a JMeter run of its own; a block has one of each cell, in random order (method, rule 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from restbench.drive import engine_clocks, engines
from restbench.drive.engines import Engines
from restbench.experiment.cell import Cell
from restbench.experiment.open_load import EngineLoad
from restbench.failures import EnvironmentProblem
from restbench.machine import namespaces, storage
from restbench.machine.namespaces import Host
from restbench.schedule import under_load
from restbench.schedule.block_run import BlockOrder, Driver, LoadRun, OnceEach
from restbench.schedule.pace import PlannedTrial
from restbench.schedule.reduction import loaded
from restbench.store.trials import Trial

SERVICE, CONTROLLER = "service", "control"


@dataclass
class EnginesRun(LoadRun):
    """A block whose services answer engines on other hosts."""

    load: Engines = field(kw_only=True)
    delaying: Sequence[Host] = ()
    """The hosts of services and engines, if the kernel can delay what they send; empty if a relay
    has to do so."""

    def prove(self) -> None:
        """Raises EnvironmentProblem where the clock of an engine that others run differs too much
        from the controller's (LoadRun)."""
        if self.load.controller is None:
            found = self.load.offsets_ms()
            self.file.fact(self.block, "engine_clocks_ms", found)
            engine_clocks.require_together(found)

    def url(self, cell: Cell) -> str:
        """The address of the service, or of the relay in front of it (LoadRun)."""
        direct = super().url(cell)
        if not cell.delay_ms or self.delaying:
            return direct
        parts = urlsplit(direct)
        return parts._replace(netloc=self.load.relayed(parts.netloc, cell.delay_ms)).geturl()


@dataclass
class EnginesDriver(OnceEach):
    """Windows of one block (Driver)."""

    here: EnginesRun
    load: EngineLoad

    def least_s(self, cell: Cell) -> float:  # noqa: ARG002 - the same for any cell
        """The seconds of a window (OnceEach)."""
        return self.load.seconds

    def trial(self, planned: PlannedTrial) -> Trial:
        """Take one window. If the profile wants a long window of the cell, the requests are kept,
        in place of those of an earlier block."""
        here, cell = self.here, planned.cell
        if cell.delay_ms and not here.delaying:
            here.note("relayed", f"{cell.delay_ms} ms in each direction", cell)
        with namespaces.delayed(here.delaying if cell.delay_ms else (), cell.delay_ms):
            sent, found = loaded(here, planned, self.load.warmup_s, self.load.window_s)
        if not found.completions and not found.wrong:
            raise EnvironmentProblem(sent.first_error or "no answer while it was measured")
        if here.order.profile.has_window(cell):
            kept = here.run.window(cell.id)
            with storage.writing(kept.samples):
                kept.path.mkdir(parents=True, exist_ok=True)
                here.load.samples.replace(kept.samples)
        return found

    def again(self, cell: Cell, why: str) -> str | None:
        """Repeat on the same service, or on a fresh one where it has ended; not where an engine has
        ended, as engines are not restarted (Driver)."""
        if not self.here.load.alive():
            return why
        return self.here.renew_if_dead(cell)


@contextmanager
def opened(wanted: BlockOrder) -> Iterator[Driver]:
    """The driver of a block: its services are up and proven, its engines are running."""
    load = wanted.order.experiment.table(EngineLoad)
    folder = wanted.run.load(wanted.block)
    with ExitStack() as stack:
        host: Host | None = None
        delaying: Sequence[Host] = ()
        if load.hosts == "namespaces":
            names = [f"gen-{number}" for number in range(1, load.count + 1)]
            hosts = stack.enter_context(namespaces.made([SERVICE, CONTROLLER, *names]))
            host = hosts[SERVICE]
            running = engines.started([hosts[it] for it in names], hosts[CONTROLLER], folder)
            generator = stack.enter_context(running)
            if namespaces.can_delay(host):
                delaying = [host, *(hosts[it] for it in names)]
        else:
            generator = engines.attached(load.addresses, folder)
        deployments = stack.enter_context(under_load.services(wanted, host))
        here = EnginesRun(
            **vars(wanted), deployments=deployments, load=generator, delaying=delaying
        )
        with under_load.proven(here):
            yield EnginesDriver(here, load)
