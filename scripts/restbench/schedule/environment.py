"""What a run needs is looked at before anything is started: tools, ports, attached services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from restbench.deploy import fronts, programs, service
from restbench.drive import load, monitor
from restbench.experiment.cell import ServiceName
from restbench.experiment.records import PlannedCell
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import machine_lock, ports, watch
from restbench.machine.placement import allowed_cores, place
from restbench.store import store


class Needs(Protocol):
    """What an order of any kind of run says of the services that it needs."""

    @property
    def plan(self) -> Sequence[PlannedCell]:
        """What is to be measured."""

    @property
    def attached(self) -> Mapping[ServiceName, str]:
        """The services that others run, with their addresses."""


def check(order: Needs) -> list[str]:
    """Look at everything a run under load needs before anything is started; returns notes for the
    user. From here on this process has the machine for itself.

    EnvironmentProblem with the mend where the run cannot go on.
    """
    machine_lock.take()
    load.require_jmeter()
    if missing := monitor.missing_tools():
        raise EnvironmentProblem(
            f"{', '.join(missing)} missing: apt-get install sysstat (make setup does it as root)"
        )
    notes = require(order)
    if place("unbound", allowed_cores()).shared:
        notes.append(
            f"This machine lets us use {len(allowed_cores())} cores: the load generator shares "
            "them with the service. Its own share of the CPU is in the column load_cpu_pct."
        )
    return notes


def require(order: Needs) -> list[str]:
    """The same for a run without a load: what it needs to start services and to write."""
    machine_lock.take()
    store.require_room()
    notes = [f"left by an earlier run and ended: {each}" for each in watch.end_leftovers()]
    _check_attached(order)
    for name, build in {(each.cell.service, each.cell.build) for each in order.plan}:
        if name in order.attached:
            continue
        if build == "checkout":
            programs.COMMANDS[name](programs.NO_SETTINGS)
        ports.require_free(ports.port(name), ports.PORT_VARIABLES[name])
    for front in {each.cell.front for each in order.plan} - {"none"}:
        fronts.program(front)
    return notes


def _check_attached(order: Needs) -> None:
    """What others run must be there, be what it is said to be, and be used as it is."""
    for name, url in order.attached.items():
        cells = [each.cell for each in order.plan if each.cell.service == name]
        if not cells:
            raise BadConfiguration(f"--attach {name}={url}: no selected cell has this service")
        if any((cell.placement, cell.front) != ("unbound", "none") for cell in cells):
            raise BadConfiguration(
                f"--attach {name}={url}: a service that others run cannot be placed or given a "
                "front; select the rest with --cells 'placement=unbound front=none'"
            )
        service.attach(name, url).stop()
