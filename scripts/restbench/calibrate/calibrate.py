"""A calibration: every check of the measuring chain, one after the other, on this machine."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.warnings import FOREIGN_LIMIT_PCT
from restbench.calibrate import generator_cost, latency, overhead, same_cell, stall, wrk_arm
from restbench.calibrate.bench import USERS, Bench, Tell
from restbench.deploy import programs
from restbench.drive import monitor, wrk
from restbench.drive.generator import require_jmeter
from restbench.experiment.records import Calibration, CalibrationCheck
from restbench.machine import clock, machine, machine_lock, watch

#: Load on a fresh Java service before its trials count: its compilers work for that long.
SERVICE_WARMUP_S = 10.0


def require_tools() -> None:
    """Raises EnvironmentProblem, with the remedy, where a calibration cannot be made."""
    machine_lock.take()
    require_jmeter()
    watch.end_leftovers()
    programs.COMMANDS["java"](programs.NO_SETTINGS)
    monitor.require_tools()
    wrk.require()


def calibrate(tell: Tell) -> Calibration:
    """Make every check, about six minutes; `tell` gets a line for each step.

    A check that fails is a result. Raw files are not kept; no process is left.
    """
    require_tools()
    return record(_checks(Bench(watch.begin(), tell)))


def _checks(bench: Bench) -> list[CalibrationCheck]:
    with bench.generator(stall.OPEN_USERS) as generator:
        known = [latency.check(bench, generator), latency.check_relay(bench, generator)]
        stalls = [
            stall.judge_closed(stall.closed(bench, generator)),
            stall.judge_opened(stall.opened(bench, generator)),
        ]
        ceiling = generator_cost.ceiling(bench, generator)
    with bench.java() as service, bench.generator(USERS) as generator:
        bench.announce(generator, service, *wrk_arm.STRATEGIES)
        for strategy in wrk_arm.STRATEGIES:
            bench.tell(f"warming {strategy} of a Java service up for {SERVICE_WARMUP_S:.0f} s")
            generator.trial(strategy, USERS, SERVICE_WARMUP_S, 0.1, service.pids())
        trials = same_cell.measure(bench, generator, service.pids())
        under_wrk = wrk_arm.measure(bench, generator, service)
        looked_at = overhead.measure(bench, generator, service)
    return [
        quiet(100 * bench.foreign_ms / bench.machine_ms),
        same_cell.judge(trials),
        *known,
        *stalls,
        generator_cost.judge(generator_cost.costs_of(trials), ceiling, bench.cores),
        wrk_arm.judge(under_wrk, shared=bench.cores.shared),
        overhead.judge(looked_at),
    ]


def quiet(foreign_pct: float) -> CalibrationCheck:
    """Whether anything else was at work while the other checks were made."""
    return CalibrationCheck(
        name="quiet machine",
        question="Did other processes use CPU time meanwhile?",
        measured=f"other processes used {foreign_pct:.1f} % of the CPU time during trials",
        limit=f"at most {FOREIGN_LIMIT_PCT:.0f} %",
        passed=foreign_pct <= FOREIGN_LIMIT_PCT,
        values={"foreign_pct": foreign_pct},
        follows="other processes may have caused any other failed check: end them ('restbench "
        "doctor' shows their load), and calibrate again",
    )


def record(checks: Sequence[CalibrationCheck]) -> Calibration:
    """The calibration of this machine, made now; only failed checks keep their `follows`."""
    values = {name: value for each in checks for name, value in each.values.items()}
    described = machine.describe()
    load_cores = values.get("load_cores")
    return Calibration(
        made=clock.now_text(),
        machine=machine.identity(described) | machine.made_with(described),
        git_commit=machine.git_commit()[0],
        checks=tuple(
            each.model_copy(update={"follows": ""}) if each.passed else each for each in checks
        ),
        ceiling_per_s=values.get("ceiling_per_s"),
        generator_share=values.get("generator_share"),
        load_cores=None if load_cores is None else round(load_cores),
    )
