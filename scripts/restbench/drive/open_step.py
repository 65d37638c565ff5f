"""One step of an open load: a rate, offered once to a warm service."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from restbench.deploy.service import Service
from restbench.drive import load, quiet
from restbench.experiment import arrivals
from restbench.experiment.arrivals import ArrivalProcess, Phases
from restbench.experiment.cell import Cell
from restbench.failures import EnvironmentProblem
from restbench.machine import process
from restbench.machine.conditions import Conditions
from restbench.store.cell_folder import CellFolder
from restbench.store.open_records import OpenStep
from restbench.store.writing import write_record, write_text

#: From JMeter's start of a test to the schedule's start: its threads are up by then.
LEAD_S = 1.0
#: Requests in flight at the end are waited for so long, then the load is killed.
DRAIN_S = 10.0
POLL_S = 0.1
#: What open-load.jmx notes of each request beside the stages, in this order.
NOTED = "serverTiming,arrival,intended_ms"


@dataclass(frozen=True)
class Rate:
    """What is to be offered."""

    cell: Cell
    number: int
    """The step's, from 1; it is part of the schedule's seed, so that repeats are not copies."""
    per_s: float
    phases: Phases
    arrivals: ArrivalProcess
    seed: int

    @property
    def schedule_seed(self) -> tuple[int, ...]:
        """Another for every step, the same for the same step of the same experiment."""
        return self.seed, self.number, round(self.per_s * 1000)


@dataclass(frozen=True)
class Way:
    """How the requests get to the service."""

    payload: Path
    """The folder with `body-rest.json` and `rows.json`."""
    load_cores: str


def offer(service: Service, rate: Rate, way: Way, folder: CellFolder) -> OpenStep:
    """Send the schedule and wait for its end; the record is written last.

    EnvironmentProblem when JMeter does not start, the service dies under the load or the clock
    jumps; StorageProblem when the disk is full.
    """
    folder.path.mkdir(parents=True, exist_ok=True)
    offsets = arrivals.schedule(rate.arrivals, rate.per_s, rate.phases, rate.schedule_seed)
    write_text(folder.arrivals, arrivals.as_text(offsets))
    before = quiet.look(service.pids())
    conditions = Conditions(folder.path)
    jmeter = load.start(target(service, rate, way, folder), folder, way.load_cores)
    try:
        jmeter.await_started()
        bound_s = LEAD_S + rate.phases.seconds + DRAIN_S
        end = _await_end(service, jmeter, conditions, bound_s)
        _check_ended_well(jmeter)
    finally:
        jmeter.stop()
    conditions.check_end()
    step = OpenStep(
        cell=rate.cell,
        number=rate.number,
        rate_per_s=rate.per_s,
        warmup_s=rate.phases.warmup_s,
        window_s=rate.phases.window_s,
        tail_s=rate.phases.tail_s,
        seed=rate.schedule_seed,
        before=before,
        ended=end.ended,
        load_cpu_pct=end.load_cpu_pct,
        command=jmeter.command,
    )
    write_record(folder.step_record, step)
    return step


def target(service: Service, rate: Rate, way: Way, folder: CellFolder) -> load.Target:
    """What JMeter is told (jmeter-plans/README.md describes each property)."""
    return load.Target(
        cell=rate.cell,
        address=service.address,
        payload=way.payload,
        duration_s=math.ceil(LEAD_S + rate.phases.seconds),
        plan=load.OPEN_PLAN,
        more={
            "lead_ms": str(round(LEAD_S * 1000)),
            "arrivals": str(folder.arrivals.resolve()),
            "sample_variables": NOTED,
        },
    )


@dataclass(frozen=True)
class _End:
    """How a load ended."""

    ended: Literal["by-itself", "killed"]
    load_cpu_pct: float


def _await_end(
    service: Service, jmeter: load.LoadRun, conditions: Conditions, seconds: float
) -> _End:
    """Wait until JMeter has ended by itself, so long at most."""
    begun = looked = time.monotonic()
    first_ms = last_ms = process.cpu_ms((jmeter.pid,))
    while jmeter.running() and looked < begun + seconds:
        time.sleep(POLL_S)
        _check(service, conditions)
        # A process that has ended tells nothing any more: the last look counts.
        if now_ms := process.cpu_ms((jmeter.pid,)):
            looked, last_ms = time.monotonic(), now_ms
    share = (last_ms - first_ms) / 1000 / max(looked - begun, POLL_S)
    return _End("killed" if jmeter.running() else "by-itself", round(100 * share, 1))


def go_on(service: Service, jmeter: load.LoadRun, conditions: Conditions, seconds: float) -> None:
    """Let a load go on for so long; EnvironmentProblem when it or the service ends before."""
    deadline = time.monotonic() + seconds
    while (left_s := deadline - time.monotonic()) > 0:
        time.sleep(min(left_s, POLL_S))
        _check(service, conditions)
        if not jmeter.running():
            why = jmeter.why_ended()
            raise EnvironmentProblem(f"JMeter ended too early; its log ends:\n{why}")


def _check(service: Service, conditions: Conditions) -> None:
    conditions.check()
    if not service.alive():
        shown = f"; its log ends:\n{process.tail(service.log)}" if service.log else ""
        raise EnvironmentProblem(f"the service died under load{shown}")


def _check_ended_well(jmeter: load.LoadRun) -> None:
    """EnvironmentProblem where JMeter failed: what it did not send is not the technique's fault."""
    if jmeter.process.poll():
        why = jmeter.why_ended()
        raise EnvironmentProblem(f"JMeter ended with {jmeter.process.poll()}; its log ends:\n{why}")
