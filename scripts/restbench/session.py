"""A service process for a group of cells: opened fresh, renewed when it must be, always stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from restbench import service
from restbench.cell import ServiceName
from restbench.placement import Cores, allowed_cores, core_list, place
from restbench.records import CellRun, PlannedCell
from restbench.store import Run, write_json, write_text


@dataclass
class Session:
    """A running service and what is known about it."""

    service: service.Service
    cores: Cores
    restarted: bool = False
    """Whether the process is new because the cell before left work behind, or failed."""

    def take_flags(self) -> tuple[str, ...]:
        """What the next cell must say about this service; a restart is said once."""
        flags = {
            "attached": self.service.attached,
            "shared-cores": self.cores.shared,
            "service-restarted": self.restarted,
        }
        self.restarted = False
        return tuple(flag for flag, holds in flags.items() if holds)


@contextmanager
def open_session(
    run: Run, first: PlannedCell, attached_urls: Mapping[ServiceName, str]
) -> Iterator[Session]:
    """A fresh service process for a block, service, placement and front (method, rule 2)."""
    cell = first.cell
    url = attached_urls.get(cell.service)
    session = _attach(cell.service, url) if url else _own(run, first)
    try:
        yield session
    finally:
        session.service.stop()


def _attach(name: ServiceName, url: str) -> Session:
    attached = service.attach(name, url)
    cores = tuple(attached.health().get("cores", ()))
    return Session(attached, Cores(service=cores, load=allowed_cores()))


def _own(run: Run, first: PlannedCell) -> Session:
    return Session(_start(run, first), place(first.cell.placement, allowed_cores()))


def _start(run: Run, planned: PlannedCell) -> service.Service:
    cell = planned.cell
    cores = place(cell.placement, allowed_cores()).service
    folder = run.service(planned.block, cell.service, cell.placement, cell.front)
    started = service.start(cell.service, cell.front, core_list(cores), folder)
    write_text(folder / "command.txt", started.command + "\n")
    write_json(folder / "health.json", started.health())
    return started


def renew_if_needed(run: Run, planned: PlannedCell, session: Session, record: CellRun) -> None:
    """A service that still works for clients that are gone, or that failed, is started anew."""
    if session.service.attached:
        return
    if record.status == "failed" or record.usage is None or record.usage.service_requests is None:
        session.service.stop(signal.SIGKILL)
        session.service = _start(run, planned)
        session.restarted = True
