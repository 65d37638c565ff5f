"""Checks what a run needs before anything is started: tools, ports, attached services."""

from __future__ import annotations

import json

from restbench.deploy import fronts, programs, service
from restbench.drive import generator, monitor, wrk
from restbench.experiment.order import Order
from restbench.failures import BadConfiguration
from restbench.machine import machine_lock, namespaces, ports, watch
from restbench.machine.placement import allowed_cores, place
from restbench.store import store


def check(order: Order) -> list[str]:
    """Check everything that a run needs before anything is started; returns notes for the user.
    From here on this process holds the machine's lock.

    Raises EnvironmentProblem, which says what to do about it, where the run cannot go on.
    """
    machine_lock.take()
    if order.experiment.traits.sends_load:
        generator.require_jmeter()
        monitor.require_tools()
    if order.experiment.wrk:
        wrk.require()
    store.require_room()
    notes = [
        f"ended a process that an earlier run left behind: {each}" for each in watch.end_leftovers()
    ]
    _check_attached(order)
    ours = [each.cell for each in order.plan if each.cell.service not in order.attached]
    for name, build in {(cell.service, cell.build) for cell in ours}:
        if build == "checkout":
            programs.COMMANDS[name](programs.NO_SETTINGS)
        ports.free_port_of(name)
    for name, framework in sorted({(cell.service, cell.framework) for cell in ours}):
        if lack := programs.why_unavailable(name, framework):
            notes.append(f"left out: {name} {lack}")
    if order.experiment.driver_table.has_hosts():
        namespaces.require()
    for front in {each.cell.front for each in order.plan} - {"none"}:
        fronts.program(front)
    notes += _divided(order)
    if order.experiment.traits.sends_load and place("unbound", allowed_cores()).shared:
        notes.append(
            f"This run may use {len(allowed_cores())} cores: the load generator shares them with "
            "the service. The column load_cpu_pct shows the CPU use of the load generator."
        )
    return notes


def planned(order: Order) -> list[str]:
    """What a user should know of a run before its start, by its order alone."""
    needs_root = [namespaces.NEEDS_ROOT] * order.experiment.driver_table.has_hosts()
    return [*needs_root, *_divided(order)]


def _divided(order: Order) -> list[str]:
    """A note where services have several instances."""
    most = max(each.cell.instances for each in order.plan)
    text = f"{most} instances: each has a part of the heap or processes of a single one"
    if any(each.cell.front != "none" for each in order.plan):
        text += ", and nginx or HAProxy shares the cores with them"
    return [text] * (most > 1)


def _check_attached(order: Order) -> None:
    """Raises BadConfiguration where an attached service is not needed, is not what its cells say,
    or would have to be set, placed or given a front."""
    if order.attached and not order.experiment.traits.can_attach:
        raise BadConfiguration("--attach: this experiment must start its services itself")
    for name, url in order.attached.items():
        cells = [each.cell for each in order.plan if each.cell.service == name]
        if not cells:
            raise BadConfiguration(f"--attach {name}={url}: no selected cell has this service")
        if any(
            (cell.placement, cell.front, cell.settings) != ("unbound", "none", "") for cell in cells
        ):
            raise BadConfiguration(
                f"--attach {name}={url}: an attached service cannot be configured, bound to "
                "cores or given a front; select the rest with --cells 'placement=unbound "
                "front=none'"
            )
        with service.attach(name, url) as attached:
            health = attached.health()
        for factor in ("framework", "handoff", "workers"):
            asked, found = {getattr(cell, factor) for cell in cells}, health.get(factor)
            if found is not None and asked != {found}:
                raise BadConfiguration(
                    f"--attach {name}={url}: {factor}: the service has {json.dumps(found)}, the "
                    f"cells need {', '.join(sorted(map(json.dumps, asked)))}: select some with "
                    "--cells, or "
                    f"write {factor} = {json.dumps(found)} into [[cells]] of an experiment's file"
                )
