"""A service process for a group of cells: opened fresh, renewed when it must be, always stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from restbench.deploy import service
from restbench.experiment.plan import service_group
from restbench.experiment.records import PlannedCell
from restbench.failures import EnvironmentProblem, NoService, StorageProblem
from restbench.machine import process
from restbench.machine.phases import spent_on
from restbench.machine.placement import allowed_cores, core_list, place
from restbench.store.store import Run
from restbench.store.writing import write_json, write_text


@dataclass
class Session:
    """A running service and what is known about it."""

    service: service.Service
    spent: bool = False
    """Whether the cell before failed, or left work behind: no next cell on this process."""
    restarted: bool = False
    """Whether the process is new because the one before was spent."""

    def take_flags(self) -> tuple[str, ...]:
        """What the next cell must say about this service; a restart is said once."""
        told = ("service-restarted",) if self.restarted else ()
        self.restarted = False
        return told


@contextmanager
def open_session(run: Run, first: PlannedCell) -> Iterator[Session]:
    """A fresh service process for a block, service, placement and front (method, rule 2).

    NoService where it does not come up.
    """
    with spent_on("service start"):
        session = Session(_own(run, first))
    try:
        yield session
    finally:
        with spent_on("service stop"):
            # A polite end waits for requests that nobody waits for any more.
            session.service.stop(signal.SIGKILL if session.spent else signal.SIGTERM)


def _own(run: Run, planned: PlannedCell) -> service.Service:
    """A service that does not come up, or does not say what it is, is started once more, as a cell
    that fails is measured once more. NoService where that fails as well."""
    try:
        return _start_once(run, planned)
    except StorageProblem:
        raise
    except EnvironmentProblem:
        return _start_again(run, planned)


def _start_again(run: Run, planned: PlannedCell) -> service.Service:
    try:
        return _start_once(run, planned)
    except StorageProblem:
        raise
    except EnvironmentProblem as error:
        raise NoService(str(error)) from error


def _start_once(run: Run, planned: PlannedCell) -> service.Service:
    cell = planned.cell
    cores = place(cell.placement, allowed_cores(), run.load_cores())
    folder = run.service(planned.block, service_group(cell))
    started = service.start(cell.service, cell.front, core_list(cores.service), folder)
    try:
        write_text(folder / "command.txt", started.command + "\n")
        write_json(folder / "health.json", started.health())
        return started
    except BaseException:
        started.stop()
        raise


def end_of_log(session: Session) -> str:
    """What the service said last, to be put behind a reason."""
    log = session.service.log
    return f"; its log ends:\n{process.tail(log)}" if log else ""


@spent_on("service start")
def renew_if_spent(run: Run, next_cell: PlannedCell, session: Session) -> None:
    """Start a spent service anew."""
    if not session.spent:
        return
    session.spent = False
    session.service.stop(signal.SIGKILL)
    session.service = _own(run, next_cell)
    session.restarted = True
