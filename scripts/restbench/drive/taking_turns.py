"""One load that strategies take turns at: it measures all cells that differ in nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from restbench.analyse import samples
from restbench.deploy.service import Service
from restbench.drive import load, monitor, quiet, turns
from restbench.drive.cutting import Course, warm_up
from restbench.drive.measure import SPARE_S, Task, difference, drained, verify
from restbench.drive.monitor import Monitors
from restbench.drive.turns import Turn
from restbench.experiment.cell import Cell
from restbench.experiment.profile import LEFT_OUT, Turns
from restbench.experiment.records import Before, CellRun, Disturbance, Usage, Window
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import compilers, process, storage
from restbench.machine.conditions import Conditions
from restbench.machine.live import Gauge
from restbench.machine.phases import spent_on
from restbench.machine.placement import core_list
from restbench.store.cell_folder import CellFolder
from restbench.store.store import Run
from restbench.store.writing import write_record

#: Drains between turns, and rounds that are not whole, take longer than what is measured; a service
#: that takes this many times as long is not measured in this way.
LONGEST_STRETCH = 10.0
#: How often it is looked whether there were turns enough.
LOOK_S = 0.25
#: Is told how long each strategy was measured so far, and how long it is to be.
Watch: TypeAlias = Callable[[float, float], None]


@dataclass(frozen=True)
class Taken:
    """What came of the turns that are measured, of all strategies."""

    turns: Sequence[Turn]
    beside: Disturbance
    compilers_share: float
    """Of the service's CPU time meanwhile."""
    processes: tuple[int, ...]
    """The service's, at the end."""
    changed: bool
    """Whether they were others at the begin."""


def measure(service: Service, tasks: Sequence[Task], run: Run, watch: Watch) -> list[CellRun]:
    """Verify, load, let them take turns, stop, record. The records are written last, together.

    The tasks are those of one block that differ in nothing but their strategy, and take turns.
    """
    folder = run.cell(tasks[0].planned.block, tasks[0].cell.id).common_load
    folder.path.mkdir(parents=True, exist_ok=True)
    jmeter = _start_load(service, tasks, run, folder)
    try:
        before, counted_before = _look_before(service, tasks, jmeter)
        conditions = Conditions(folder.path)
        taken = _take(_course(service, jmeter, conditions), tasks, folder, watch)
        with spent_on("load end"):
            jmeter.stop()
    finally:
        jmeter.stop()
    counted = _counted(service, tasks) if drained(service) else {}
    with spent_on("records"):
        load_start_ms = _split(tasks, run, folder)
        conditions.check_end()
        folder.samples.unlink()
        found = [
            each.record(
                "measured",
                before=before,
                window=_window(each, taken, run, load_start_ms),
                usage=_usage(service, each.cell, taken, counted_before, counted),
                service_pids=taken.processes,
                load_pid=jmeter.pid,
                commands={"service": service.command, "jmeter": jmeter.command},
                flags=(*each.flags, *(("processes-changed",) if taken.changed else ())),
            )
            for each in tasks
        ]
        for each in found:
            write_record(run.cell(each.block, each.cell.id).record, each)
    return found


def _split(tasks: Sequence[Task], run: Run, folder: CellFolder) -> int | None:
    """Give each cell its samples, as if its load had been its own; returns when the load began.
    StorageProblem where they may not be on the disk."""
    parts = {each.cell.strategy: _folder(each, run).samples for each in tasks}
    for path in parts.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    load_start_ms = turns.split(folder.samples, parts)
    for path in parts.values():
        storage.require_written(path.parent, path)
    return load_start_ms


def _folder(task: Task, run: Run) -> CellFolder:
    return run.cell(task.planned.block, task.cell.id)


def rule_of(task: Task) -> Turns:
    """How its strategies take turns; BadConfiguration where its profile has no rule for it."""
    if (found := task.profile.turns_of(task.cell)) is None:
        raise BadConfiguration(f"{task.cell.id}: takes no turns under this profile")
    return found


@spent_on("load start")
def _start_load(
    service: Service, tasks: Sequence[Task], run: Run, folder: CellFolder
) -> load.LoadRun:
    first, rule = tasks[0], rule_of(tasks[0])
    folder.turns.unlink(missing_ok=True)
    turn_ms = round(1000 * rule.turn_s)
    target = load.Target(
        cell=first.cell.model_copy(update={"strategy": load.TURN}),
        address=service.address,
        payload=run.payload(first.cell.complexity),
        duration_s=first.profile.longest_warmup_s + _longest_s(tasks) + SPARE_S,
        plan=load.PLANS_OF[first.client],
        more={
            "turns": ",".join(each.cell.strategy for each in tasks),
            "turn_ms": str(turn_ms),
            "turn_left_out_ms": str(round(LEFT_OUT * turn_ms)),
            "turns_seed": str(first.payload_seed + first.planned.order),
            "turns_file": str(folder.turns.resolve()),
            "turns_pids": ",".join(map(str, service.pids())),
        },
    )
    return load.start(target, folder, core_list(first.cores.load), waits=True)


@spent_on("before the load")
def _look_before(
    service: Service, tasks: Sequence[Task], jmeter: load.LoadRun
) -> tuple[Before, dict[str, float | None]]:
    """As before a load of its own, of each strategy."""
    look = quiet.begin(lambda: (*service.pids(), jmeter.pid))
    for each in tasks:
        verify(service, each)
    counted = _counted(service, tasks)
    return look.end(), counted


def _counted(service: Service, tasks: Sequence[Task]) -> dict[str, float | None]:
    """How many requests of each strategy the service says it has answered."""
    names = [each.cell.strategy for each in tasks]
    return {name: monitor.answered_requests(service, name) for name in names}


def _course(service: Service, jmeter: load.LoadRun, conditions: Conditions) -> Course:
    """Nobody follows the load, and no collector runs: that takes CPU time from whoever has a turn,
    and what they tell by the second is of all of them."""
    gauge = Gauge(jmeter.follower, service.pids())
    return Course(service, jmeter, Monitors(), conditions, gauge, None)


def _take(course: Course, tasks: Sequence[Task], folder: CellFolder, watch: Watch) -> Taken:
    """Let the load begin and warm up, then whole rounds of turns until all have been measured for
    long enough."""
    with spent_on("load start"):
        course.jmeter.let_go()
        course.jmeter.await_started()
    warm_up(course, tasks[0].profile, tasks[0].cell.users)
    with spent_on("window"):
        pids = course.service.pids()
        look = quiet.begin(lambda: (*course.service.pids(), course.jmeter.pid))
        compiled_ms, worked_ms = compilers.cpu_ms(pids), process.cpu_ms(pids)
        found = _rounds(course, tasks, folder, watch)
        compiled_ms = max(0.0, compilers.cpu_ms(pids) - compiled_ms)
        worked_ms = process.cpu_ms(pids) - worked_ms
    return Taken(
        turns=found,
        beside=look.so_far(),
        compilers_share=compiled_ms / worked_ms if worked_ms else 0.0,
        processes=course.service.pids(),
        changed=course.service.pids() != pids,
    )


def _rounds(course: Course, tasks: Sequence[Task], folder: CellFolder, watch: Watch) -> list[Turn]:
    """Whole rounds, as many as the profile asks for. EnvironmentProblem where they do not come."""
    rule = rule_of(tasks[0])
    strategies = [each.cell.strategy for each in tasks]
    begun_s, after_ms = time.monotonic(), round(1000 * time.time())
    while (elapsed_s := time.monotonic() - begun_s) < _longest_s(tasks):
        course.wait(LOOK_S, "window", elapsed_s)
        found = turns.whole_rounds(turns.read(folder.turns), len(tasks), after_ms)
        measured_s = turns.shortest_s(found, strategies)
        watch(measured_s, rule.measured_s)
        if measured_s >= rule.measured_s:
            return found
    raise EnvironmentProblem(
        f"{', '.join(strategies)}: {elapsed_s:.0f} s of turns of {rule.turn_s} s were not enough "
        "to measure each long enough: give them a longer turn_s"
    )


def _longest_s(tasks: Sequence[Task]) -> float:
    return rule_of(tasks[0]).seconds * len(tasks) * LONGEST_STRETCH


def _window(task: Task, taken: Taken, run: Run, load_start_ms: int | None) -> Window:
    """Of one of them: all of its turns. It had enough where the completions asked for are in it."""
    own = tuple(each.interval for each in taken.turns if each.strategy == task.cell.strategy)
    whole = Window(
        start_ms=own[0][0],
        end_ms=own[-1][1],
        ended="enough",
        turns=own,
        load_start_ms=load_start_ms,
    )
    frames = samples.counted_columns(_folder(task, run).samples)
    correct = pl.col("outcome") == "correct"
    completions = sum(frame.filter(samples.ends_in(whole) & correct).height for frame in frames)
    if completions >= task.profile.enough_completions:
        return whole
    return whole.model_copy(update={"ended": "capped"})


def _usage(
    service: Service,
    cell: Cell,
    taken: Taken,
    before: Mapping[str, float | None],
    after: Mapping[str, float | None],
) -> Usage:
    """Of one of them: the CPU time of its turns. What compilers took cannot be told apart by turns
    that are shorter than their steps: it gets its share."""
    own = [each for each in taken.turns if each.strategy == cell.strategy]
    service_ms = sum(each.closed.service_cpu_ms - each.opened.service_cpu_ms for each in own)
    known = not service.attached and not taken.changed
    return Usage(
        service_cpu_ms=service_ms if known else None,
        compilers_cpu_ms=taken.compilers_share * service_ms if known else None,
        load_cpu_ms=sum(each.closed.load_cpu_ms - each.opened.load_cpu_ms for each in own),
        service_requests=difference(before.get(cell.strategy), after.get(cell.strategy)),
        beside=None if service.attached else taken.beside,
    )
