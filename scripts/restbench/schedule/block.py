"""One block: trials of every cell on processes that are fresh for it (method, rules 1-5)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from restbench.drive.generator import GeneratorGone
from restbench.failures import (
    BadConfiguration,
    EnvironmentProblem,
    NotOffered,
    Refused,
    Unreadable,
    WrongAnswers,
    counted,
)
from restbench.machine import clock, machine
from restbench.schedule import calls, engines, faults, messages, npb, trace, under_load
from restbench.schedule.block_run import BlockOrder, Driver, LoadRun
from restbench.schedule.closed_load import ClosedDriver
from restbench.schedule.open_load import OpenDriver
from restbench.schedule.pace import PlannedTrial, TrialGroup
from restbench.store.trials import BEFORE_TRIALS_S, MISSING_S, SPARE_S, Trial

#: By the driver's name in the experiment file: opens the driver of a block. What the block's trials
#: need is up as long as the context lasts.
DRIVERS: dict[str, Callable[[BlockOrder], AbstractContextManager[Driver]]] = {
    "closed-load": partial(under_load.opened, ClosedDriver, LoadRun),
    "open-load": partial(under_load.opened, OpenDriver, LoadRun),
    "engines": engines.opened,
    "npb": npb.opened,
    "calls": calls.opened,
    "faults": faults.opened,
    "messages": partial(messages.opened, messages.MessagesDriver),
    "trace": trace.opened,
}
#: Failures of a trial that a second attempt would not change, or must not hide.
FINAL = (BadConfiguration, NotOffered, Refused, WrongAnswers)


def measure(wanted: BlockOrder) -> None:
    """Measure one block, with the start of its services as part of its time; its trials are
    appended to the run's file.

    A problem with a cell is noted as an event, and the cell has no further trials. Raises
    EnvironmentProblem for a problem of the whole block, StorageProblem, and interruptions.
    """
    began = time.monotonic()
    ends = began + wanted.seconds
    file, parts, cores = wanted.run.trials, _parts(wanted), wanted.run.cores()
    facts = {"speed": machine.speed(), "load_cores": cores.load}
    file.begin(wanted.block, clock.now_text(), facts)
    trials_s = spare_s = missing_s = 0.0
    for number, part in enumerate(parts):
        left = part.seconds / sum(each.seconds for each in parts[number:])
        part_ends = time.monotonic() + (ends - time.monotonic()) * left
        part.view.show(part.begun())
        with DRIVERS[wanted.order.experiment.driver](part) as driver:
            driver.here.progress.until = part_ends
            ready = time.monotonic()
            for planned in driver.rounds(part_ends - ready):
                take_round(driver, planned)
            taken_s = time.monotonic() - ready
            trials_s += taken_s
            spare_s += driver.here.spare_part * taken_s
            missing_s += driver.here.missing_s
    file.fact(wanted.block, SPARE_S, spare_s)
    if missing_s:
        file.fact(wanted.block, MISSING_S, missing_s)
    file.fact(wanted.block, BEFORE_TRIALS_S, time.monotonic() - began - trials_s)
    file.finish(wanted.block, clock.now_text())


def _parts(wanted: BlockOrder) -> list[BlockOrder]:
    """The parts of a block, which are measured one after the other: the whole block or, with the
    factor `apart`, a part for each level in random order. A part's time is proportional to the
    number of services that it starts; otherwise the last parts would have little for trials."""
    factor = wanted.order.experiment.apart
    if factor is None:
        return [wanted]
    levels = list(dict.fromkeys(getattr(cell, factor) for cell in wanted.cells))
    wanted.draws("apart").shuffle(levels)
    found = []
    for level in levels:
        groups = [
            replace(group, cells=its)
            for group in wanted.groups
            if (its := tuple(cell for cell in group.cells if getattr(cell, factor) == level))
        ]
        seconds = wanted.seconds * _instances(groups) / _instances(wanted.groups)
        found.append(replace(wanted, groups=groups, seconds=seconds))
    return found


def _instances(groups: Iterable[TrialGroup]) -> int:
    needed = {cell.service_group for group in groups for cell in group.cells}
    return sum(each.instances for each in needed)


def take_round(driver: Driver, planned: Sequence[PlannedTrial]) -> None:
    """Take a round's trials and append them together. A cell with a wrong answer has no further
    trials in this block; that is noted at once, as the round may not be completed."""
    here = driver.here
    taken: list[Trial] = []
    for each in planned:
        here.progress.done += 1
        if each.cell in here.lost:
            continue
        here.progress.cell = each.cell.id
        trial = _attempted(driver, each)
        here.progress.per_s = trial.completions / trial.seconds if trial else 0.0
        here.view.show(here.progress)
        taken += [trial] if trial else []
        if trial and trial.wrong:
            answers = counted(trial.wrong, "answer", "was", "were")
            here.lose(each.cell, "wrong", f"{answers} wrong in one trial")
    here.file.add(taken)


def _attempted(driver: Driver, planned: PlannedTrial) -> Trial | None:
    """One trial, with a second attempt where that can help. Else None, and the cell is lost."""
    error = "no trial"
    for _attempt in range(2):
        try:
            return driver.trial(planned)
        except (GeneratorGone, Unreadable):
            raise
        except FINAL as problem:
            driver.here.fail(planned.cell, problem)
            return None
        except EnvironmentProblem as problem:
            error = str(problem)
        if lack := driver.again(planned.cell, error):
            error = lack
            break
    driver.here.lose(planned.cell, "failed", error)
    return None
