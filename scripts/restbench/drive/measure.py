"""One measurement of one cell, from the check of its answer to its record on disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from restbench.deploy.service import Service
from restbench.drive import load, monitor, quiet
from restbench.drive.cutting import POLL_S, Course, Cut, cut_window, end_of_log
from restbench.drive.load_profile import Profile
from restbench.drive.payload import Payload, Requests
from restbench.experiment.cell import Cell, Client
from restbench.experiment.records import Before, CellRun, PlannedCell, Usage
from restbench.failures import EnvironmentProblem, WrongAnswers
from restbench.machine.conditions import Conditions
from restbench.machine.live import Gauge, Live
from restbench.machine.phases import spent_on
from restbench.machine.placement import Cores, core_list
from restbench.store.cell_folder import CellFolder
from restbench.store.store import Run
from restbench.store.writing import write_record

#: A service that works longer for clients that are gone is started anew. Waiting is better: a JVM
#: that has just started takes as long to be warm again, and is colder for many cells.
DRAIN_TIMEOUT_S = 20.0
#: JMeter's own bound on a run, beyond what the harness plans: it ends even if nobody stops it.
SPARE_S = 60.0


@dataclass(frozen=True)
class Task:
    """Everything one measurement needs to know."""

    planned: PlannedCell
    profile: Profile
    requests: Requests
    payload_seed: int
    cores: Cores
    client: Client = "http-sampler"
    """What sends them."""
    flags: tuple[str, ...] = ()
    """What was known before: `shared-cores`, `service-restarted`, …"""
    first_failure: str | None = None
    """Why the attempt before this one failed, if there was one."""

    @property
    def cell(self) -> Cell:
        """The cell to be measured."""
        return self.planned.cell

    def record(self, status: Literal["measured", "failed"], **found: Any) -> CellRun:
        """The cell's record: what was planned, and what was found."""
        return CellRun(
            cell=self.cell,
            shape=self.requests.shape,
            mix=self.requests.mix,
            test_ids=self.planned.test_ids,
            block=self.planned.block,
            order=self.planned.order,
            status=status,
            warmup_s=self.profile.warmup_s,
            service_cores=self.cores.service,
            load_cores=self.cores.load,
            payload_seed=self.payload_seed,
            first_failure=self.first_failure,
            **found,
        )


def verify(service: Service, task: Task) -> None:
    """One request of each kind whose answer must be right to the byte, before any load."""
    for payload in task.requests.payloads.values():
        _verify(service, task, payload)


def _verify(service: Service, task: Task, payload: Payload) -> None:
    request_id = f"verify-{task.planned.order}"
    body = payload.body(request_id)
    try:
        answer = service.post(task.cell.strategy, task.cell.kernel, body)
    except httpx.HTTPError as error:
        raise EnvironmentProblem(
            f"{task.cell.id}: no answer before any load: {str(error) or type(error).__name__}"
            f"{end_of_log(service)}"
        ) from error
    if answer.status_code != httpx.codes.OK:
        raise EnvironmentProblem(
            f"{task.cell.id}: answered {answer.status_code} before any load: "
            f"{answer.text[:200]}{end_of_log(service)}"
        )
    if answer.content != payload.answer(request_id):
        raise WrongAnswers(f"{task.cell.id}: the product is wrong; nothing was measured")


def measure(
    service: Service, task: Task, run: Run, watch: Callable[[Live], None] | None = None
) -> CellRun:
    """Verify, load, cut the window, stop, record. The record is written last. `watch` is told
    about once a second how it goes.

    `usage.service_requests` is None where the service still works for clients that are gone.
    """
    folder = run.cell(task.planned.block, task.cell.id)
    folder.path.mkdir(parents=True, exist_ok=True)
    jmeter = _start_load(service, task, run, folder)
    try:
        before, counted_before = _look_before(service, task, jmeter)
        conditions = Conditions(folder.path)
        with spent_on("collectors"), monitor.collectors(service, jmeter.pid, folder) as monitors:
            gauge = Gauge(jmeter.follower, service.pids())
            course = Course(service, jmeter, monitors, conditions, gauge, watch)
            cut = cut_window(course, task.profile, task.cell.users)
            with spent_on("load end"):
                jmeter.stop()  # first: the load would go on while the collectors end
    finally:
        jmeter.stop()
    with spent_on("records"):
        conditions.check_end()
    counted_after = (
        monitor.answered_requests(service, task.cell.strategy) if drained(service) else None
    )
    commands = {"service": service.command, "jmeter": jmeter.command} | monitors.commands
    record = task.record(
        "measured",
        before=before,
        window=cut.window,
        usage=_usage(service, cut, difference(counted_before, counted_after)),
        service_pids=cut.closed.service_pids,
        load_pid=jmeter.pid,
        commands=commands,
        flags=(*task.flags, *monitors.flags, *_window_flags(cut)),
    )
    _keep(folder, record)
    return record


@spent_on("before the load")
def _look_before(service: Service, task: Task, jmeter: load.LoadRun) -> tuple[Before, float | None]:
    """While JMeter starts, which takes longer: what others do with the machine, the check of the
    answer, and how many requests the service has counted so far."""
    look = quiet.begin(lambda: (*service.pids(), jmeter.pid))
    verify(service, task)
    counted = monitor.answered_requests(service, task.cell.strategy)
    return look.end(), counted


@spent_on("records")
def _keep(folder: CellFolder, record: CellRun) -> None:
    write_record(folder.record, record)


@spent_on("load start")
def _start_load(service: Service, task: Task, run: Run, folder: CellFolder) -> load.LoadRun:
    target = load.Target(
        cell=task.cell,
        address=service.address,
        payload=run.payload(task.cell.complexity),
        duration_s=task.profile.longest_warmup_s + task.profile.slow_window_max_s + SPARE_S,
        plan=load.PLANS_OF[task.client],
    )
    return load.start(target, folder, core_list(task.cores.load), waits=True)


def _usage(service: Service, cut: Cut, service_requests: float | None) -> Usage:
    opened, closed = cut.opened, cut.closed
    same = opened.service_pids == closed.service_pids and not service.attached
    # a JVM ends compilers that are idle, and their time is gone with them
    compiled_ms = max(0.0, closed.compilers_cpu_ms - opened.compilers_cpu_ms)
    return Usage(
        service_cpu_ms=closed.service_cpu_ms - opened.service_cpu_ms if same else None,
        compilers_cpu_ms=compiled_ms if same else None,
        load_cpu_ms=closed.load_cpu_ms - opened.load_cpu_ms,
        service_requests=service_requests,
    )


def _window_flags(cut: Cut) -> list[str]:
    flags = ["capped"] if cut.window.ended == "capped" else []
    if cut.opened.service_pids != cut.closed.service_pids:
        flags.append("processes-changed")
    return flags


@spent_on("drain")
def drained(service: Service) -> bool:
    """Wait until no request is in flight; False when some still are (their clients are gone)."""
    deadline = time.monotonic() + DRAIN_TIMEOUT_S
    while time.monotonic() < deadline:
        # None, no answer in time, is anything but idle.
        if monitor.requests_in_flight(service) == 0:
            return True
        time.sleep(POLL_S)
    return False


def difference(before: float | None, after: float | None) -> float | None:
    """What came between two counts; None where one of them is not known."""
    return None if before is None or after is None else after - before
