"""A service process for a group of cells: opened fresh, renewed when it must be, always stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from restbench.deploy import service
from restbench.drive import monitor
from restbench.experiment.cell import ServiceName
from restbench.experiment.records import PlannedCell
from restbench.failures import EnvironmentProblem, NoService, StorageProblem
from restbench.machine import process
from restbench.machine.phases import spent_on
from restbench.machine.placement import Cores, allowed_cores, core_list, place
from restbench.store.store import Run
from restbench.store.writing import write_json, write_text

#: Variables of the environment by service.
Settings: TypeAlias = Mapping[ServiceName, Mapping[str, str]]
NO_SETTINGS: Settings = {}


@dataclass
class Session:
    """A running service and what is known about it."""

    service: service.Service
    cores: Cores
    offered: tuple[str, ...]
    """The strategies that the service has."""
    runtime: str
    spent: bool = False
    """Whether the cell before failed, or left work behind: no next cell on this process."""
    restarted: bool = False
    """Whether the process is new because the one before was spent."""
    cold: bool = True
    """Whether nothing has warmed the process up yet."""
    resumed: bool = False
    """Whether cells of its group were measured on another process, before an interruption."""
    settings: Settings = field(default_factory=dict)
    """What the experiment starts services with beside their defaults."""
    busy: bool = False
    """Whether it may still be at work for what came before, and is used all the same."""

    def take_flags(self) -> tuple[str, ...]:
        """What the next cell must say about this service; a restart is said once."""
        flags = {
            "attached": self.service.attached,
            "shared-cores": self.cores.shared,
            "service-restarted": self.restarted,
            "resumed": self.resumed,
            "busy-before": self.busy,
        }
        self.restarted = self.resumed = self.busy = False
        return tuple(flag for flag, holds in flags.items() if holds)


@contextmanager
def open_session(
    run: Run,
    first: PlannedCell,
    attached_urls: Mapping[ServiceName, str],
    settings: Settings = NO_SETTINGS,
) -> Iterator[Session]:
    """A fresh service process for a block, service, placement and front (method, rule 2), started
    with the experiment's settings; one that others run is as they started it.

    NoService where it does not come up.
    """
    cell = first.cell
    url = attached_urls.get(cell.service)
    with spent_on("service start"):
        session = _attach(cell.service, url) if url else _own(run, first, settings)
    try:
        yield session
    finally:
        with spent_on("service stop"):
            session.service.stop(_polite_unless(session.spent))


def _attach(name: ServiceName, url: str) -> Session:
    attached = service.attach(name, url)
    try:
        health = attached.health()
        cores = tuple(health.get("cores", ()))
        return _session(attached, Cores(service=cores, load=allowed_cores()), health)
    except BaseException:
        attached.stop()
        raise


def _session(
    running: service.Service,
    cores: Cores,
    health: Mapping[str, Any],
    settings: Settings = NO_SETTINGS,
) -> Session:
    runtime = str(health.get("runtime", "an unknown runtime"))
    return Session(running, cores, tuple(running.strategies()), runtime, settings=settings)


def _polite_unless(spent: bool) -> signal.Signals:
    """A polite end waits for requests that nobody waits for any more."""
    return signal.SIGKILL if spent else signal.SIGTERM


def _own(run: Run, planned: PlannedCell, settings: Settings) -> Session:
    """A service that does not come up, or does not say what it is, is started once more, as a cell
    that fails is measured once more. NoService where that fails as well."""
    try:
        return _start_once(run, planned, settings)
    except StorageProblem:
        raise
    except EnvironmentProblem:
        return _start_again(run, planned, settings)


def _start_again(run: Run, planned: PlannedCell, settings: Settings) -> Session:
    try:
        return _start_once(run, planned, settings)
    except StorageProblem:
        raise
    except EnvironmentProblem as error:
        raise NoService(str(error)) from error


def _start_once(run: Run, planned: PlannedCell, settings: Settings) -> Session:
    cell = planned.cell
    cores = place(cell.placement, allowed_cores(), run.load_cores())
    folder = run.service(planned.block, cell.service, cell.placement, cell.front)
    started = service.start(
        cell.service,
        cell.front,
        core_list(cores.service),
        folder,
        settings=settings.get(cell.service),
    )
    try:
        write_text(folder / "command.txt", started.command + "\n")
        health = started.health()
        write_json(folder / "health.json", health)
        return _session(started, cores, health, settings)
    except BaseException:
        started.stop()
        raise


def end_of_log(session: Session) -> str:
    """What the service said last, to be put behind a reason; nothing where others run it."""
    log = session.service.log
    return f"; its log ends:\n{process.tail(log)}" if log else ""


@spent_on("service start")
def renew_if_spent(run: Run, next_cell: PlannedCell, session: Session) -> None:
    """Start a spent service anew; one that others run can only be said to be busy."""
    if not session.spent:
        return
    session.spent = False
    if session.service.attached:
        session.busy = monitor.requests_in_flight(session.service) != 0
        return
    session.service.stop(signal.SIGKILL)
    session.service = _own(run, next_cell, session.settings).service
    session.restarted = session.cold = True
