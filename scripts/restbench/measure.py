"""One measurement of one cell, from the check of its answer to its record on disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from restbench import load, monitor, process, quiet
from restbench.cell import Cell, Client
from restbench.conditions import Conditions
from restbench.failures import EnvironmentProblem, WrongAnswers
from restbench.folders import CellFolder
from restbench.live import Gauge, Live, Phase
from restbench.payload import Payload, Requests
from restbench.placement import Cores, core_list
from restbench.profile import Profile
from restbench.records import CellRun, PlannedCell, Usage, Window
from restbench.service import Service
from restbench.store import Run
from restbench.window import Ended, window_over
from restbench.writing import write_record

POLL_S = 0.1
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


@dataclass(frozen=True)
class Snapshot:
    """CPU time of both sides at one moment."""

    at_ms: int
    service_pids: tuple[int, ...]
    service_cpu_ms: float
    load_cpu_ms: float


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
            f"{_end_of_log(service)}"
        ) from error
    if answer.status_code != httpx.codes.OK:
        raise EnvironmentProblem(
            f"{task.cell.id}: answered {answer.status_code} before any load: "
            f"{answer.text[:200]}{_end_of_log(service)}"
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
    before = quiet.look(service.pids())
    verify(service, task)
    counted_before = monitor.answered_requests(service, task.cell.strategy)
    conditions = Conditions(folder.path)
    jmeter = _start_load(service, task, run, folder)
    try:
        with monitor.collectors(service, jmeter.pid, folder) as monitors:
            gauge = Gauge(jmeter.follower, service.pids())
            course = Course(service, jmeter, monitors, conditions, gauge, watch)
            window, opened, closed = _cut_window(course, task)
            jmeter.stop()  # first: the load would go on while the collectors end
    finally:
        jmeter.stop()
    conditions.check_end()
    counted_after = (
        monitor.answered_requests(service, task.cell.strategy) if drained(service) else None
    )
    commands = {"service": service.command, "jmeter": jmeter.command} | monitors.commands
    record = task.record(
        "measured",
        before=before,
        window=window,
        usage=_usage(service, opened, closed, _difference(counted_before, counted_after)),
        service_pids=closed.service_pids,
        load_pid=jmeter.pid,
        commands=commands,
        flags=(*task.flags, *monitors.flags, *_window_flags(window, opened, closed)),
    )
    write_record(folder.record, record)
    return record


def _start_load(service: Service, task: Task, run: Run, folder: CellFolder) -> load.LoadRun:
    target = load.Target(
        cell=task.cell,
        address=service.address,
        payload=run.payload(task.cell.complexity),
        duration_s=task.profile.longest_warmup_s + task.profile.slow_window_max_s + SPARE_S,
        plan=load.PLANS_OF[task.client],
    )
    return load.start(target, folder, core_list(task.cores.load))


@dataclass(frozen=True)
class Course:
    """A load under way against a service, what looks on, and who is told how it goes."""

    service: Service
    jmeter: load.LoadRun
    monitors: monitor.Monitors
    conditions: Conditions
    gauge: Gauge
    watch: Callable[[Live], None] | None

    def wait(self, seconds: float, phase: Phase, elapsed_s: float) -> None:
        """Let it go on; EnvironmentProblem when one of them has ended, or what it is measured
        by does not hold any more."""
        time.sleep(seconds)
        self.conditions.check()
        if not self.jmeter.running():
            why = self.jmeter.why_ended()
            raise EnvironmentProblem(f"JMeter ended too early; its log ends:\n{why}")
        if not self.service.alive():
            raise EnvironmentProblem(f"the service died under load{_end_of_log(self.service)}")
        if ended := self.monitors.ended():
            raise EnvironmentProblem(f"{', '.join(ended)} ended too early: no record of its window")
        if self.watch and (now := self.gauge.look(phase, elapsed_s)):
            self.watch(now)


def _cut_window(course: Course, task: Task) -> tuple[Window, Snapshot, Snapshot]:
    course.jmeter.await_started()
    _warm_up(course, task)
    opened = _snapshot(course.service, course.jmeter)
    ended: Ended | None = None
    elapsed_s = 0.0
    while ended is None:
        course.wait(POLL_S, "window", elapsed_s)
        elapsed_s = time.time() - opened.at_ms / 1000
        completions = course.jmeter.follower.correct_since(opened.at_ms)
        ended = window_over(elapsed_s, completions, task.profile)
    closed = _snapshot(course.service, course.jmeter)
    return Window(start_ms=opened.at_ms, end_ms=closed.at_ms, ended=ended), opened, closed


def _warm_up(course: Course, task: Task) -> None:
    """As long as the profile says, and on until every user has had an answer: users begin all at
    once, and a window of their first requests would hold none of those that take longest."""
    begun = time.monotonic()
    elapsed_s = 0.0
    while not _is_warm(course, task, elapsed_s):
        left_s = task.profile.warmup_s - elapsed_s
        course.wait(min(left_s, POLL_S) if left_s > 0 else POLL_S, "warm-up", elapsed_s)
        elapsed_s = time.monotonic() - begun


def _is_warm(course: Course, task: Task, elapsed_s: float) -> bool:
    if elapsed_s < task.profile.warmup_s:
        return False
    if elapsed_s >= task.profile.longest_warmup_s:
        return True
    return course.jmeter.follower.users_answered() >= task.cell.users


def _end_of_log(service: Service) -> str:
    return f"; its log ends:\n{process.tail(service.log)}" if service.log else ""


def _snapshot(service: Service, jmeter: load.LoadRun) -> Snapshot:
    pids = service.pids()
    return Snapshot(
        at_ms=round(time.time() * 1000),
        service_pids=pids,
        service_cpu_ms=process.cpu_ms(pids),
        load_cpu_ms=process.cpu_ms((jmeter.pid,)),
    )


def _usage(
    service: Service, opened: Snapshot, closed: Snapshot, service_requests: float | None
) -> Usage:
    same = opened.service_pids == closed.service_pids and not service.attached
    return Usage(
        service_cpu_ms=closed.service_cpu_ms - opened.service_cpu_ms if same else None,
        load_cpu_ms=closed.load_cpu_ms - opened.load_cpu_ms,
        service_requests=service_requests,
    )


def _window_flags(window: Window, opened: Snapshot, closed: Snapshot) -> list[str]:
    flags = ["capped"] if window.ended == "capped" else []
    if opened.service_pids != closed.service_pids:
        flags.append("processes-changed")
    return flags


def drained(service: Service) -> bool:
    """Wait until no request is in flight; False when some still are (their clients are gone)."""
    deadline = time.monotonic() + DRAIN_TIMEOUT_S
    while time.monotonic() < deadline:
        # None, no answer in time, is anything but idle.
        if monitor.requests_in_flight(service) == 0:
            return True
        time.sleep(POLL_S)
    return False


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
