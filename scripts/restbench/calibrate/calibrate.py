"""A calibration: every check of the measuring chain, one after the other, on this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from restbench.calibrate import ceiling, latency, overhead, probe, same_cell, stall
from restbench.calibrate import machine_at_rest as quiet
from restbench.calibrate.probe import Probe, window_of
from restbench.deploy import programs
from restbench.drive import load, monitor
from restbench.experiment.records import Calibration, CalibrationCheck
from restbench.failures import EnvironmentProblem
from restbench.machine import machine, machine_lock, ports, watch

#: Load on a fresh Java service before anything of it counts: its compilers work for that long.
SERVICE_WARMUP_S = 20.0

Tell = Callable[[str], None]


def require_tools() -> None:
    """EnvironmentProblem, with the mend, where the calibration could not go on."""
    machine_lock.take()
    load.require_jmeter()
    watch.end_leftovers()
    programs.COMMANDS["java"](programs.NO_SETTINGS)
    ports.require_free(ports.port("java"), ports.PORT_VARIABLES["java"])
    ports.require_free(probe.stub_port(), probe.STUB_PORT)
    missing = monitor.missing_tools()
    if missing:
        raise EnvironmentProblem(f"{', '.join(missing)} missing: apt-get install sysstat")


def calibrate(tell: Tell) -> Calibration:
    """Make every check, about six minutes; `tell` gets a line for each step.

    A check that fails is a result. Raw files are not kept; no process is left.
    """
    require_tools()
    with tempfile.TemporaryDirectory(prefix="calibration-", dir=watch.begin()) as folder:
        checks = _checks(probe.new_probe(Path(folder)), tell)
    return record(checks)


def _checks(chain: Probe, tell: Tell) -> list[CalibrationCheck]:
    known = latency.check(chain, tell)
    stalls = [
        stall.judge_closed(stall.closed(chain, tell)),
        stall.judge_opened(stall.opened(chain, tell)),
    ]
    loads = ceiling.check(chain, tell)
    with chain.java() as running:
        tell(f"warming a Java service up for {SERVICE_WARMUP_S:.0f} s")
        chain.measure(running, probe.cell_of(same_cell.USERS), window_of(1.0, SERVICE_WARMUP_S))
        same = same_cell.judge(same_cell.measure(chain, tell, running))
        costs = [
            overhead.judge(overhead.measure(chain, tell, running, subject), subject)
            for subject in (overhead.FAST, overhead.MANY_THREADS)
        ]
    room = ceiling.judge(loads, same.values["mean_per_s"])
    return [quiet.judge(chain.foreign_pct), same, known, *stalls, room, *costs]


def record(checks: Sequence[CalibrationCheck]) -> Calibration:
    """The calibration of this machine, now, with these checks."""
    values = {name: value for each in checks for name, value in each.values.items()}
    return Calibration(
        made=datetime.now().astimezone().isoformat(timespec="seconds"),
        machine=machine.identity(machine.describe()),
        git_commit=machine.git_commit()[0],
        checks=tuple(checks),
        ceiling_per_s=values.get("ceiling_per_s"),
        streaming_ceiling_per_s=values.get("streaming_ceiling_per_s"),
    )
