"""A cell has two attempts, the second on a fresh service; then it is recorded as failed.

Whatever goes wrong with a cell becomes its record, and the run goes on: only what makes every
further record impossible (StorageProblem, an interruption) is handed on.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from restbench.analyse import jtl
from restbench.drive.measure import Task, measure
from restbench.drive.payload import requests_of
from restbench.drive.session import Session, is_spent, renew_if_spent
from restbench.drive.warming import warm_all
from restbench.experiment.cell import OPTIONAL, Cell
from restbench.experiment.order import Order
from restbench.experiment.records import CellRun, PlannedCell
from restbench.failures import Failure, NoService, StorageProblem, WrongAnswers
from restbench.machine import storage
from restbench.machine.live import Live
from restbench.machine.placement import Cores, allowed_cores, place
from restbench.store.store import Run, read_model
from restbench.store.writing import remove, write_record

#: How much is told of an error that is none of ours.
TRACEBACK_LINES = 6


@dataclass(frozen=True)
class Group:
    """Cells that share a service process, and the run that they belong to."""

    order: Order
    run: Run
    cells: Sequence[PlannedCell]
    say: Callable[[str], None]
    """Is told what whoever follows the run should know."""


@dataclass(frozen=True)
class Failed:
    """How an attempt ended that has no result."""

    reason: str
    wrong: bool = False
    """Whether a product was wrong."""
    absent: bool = False
    """Whether it is one of those strategies that only some runtimes have, and not this one."""
    final: bool = False
    """Whether a second attempt could not end otherwise, or may not be asked for."""
    flags: tuple[str, ...] = ()
    """What was to be said of the service, which is said once: the second attempt and the record
    say it too."""


def measure_cell(
    group: Group, planned: PlannedCell, session: Session, watch: Callable[[Live], None]
) -> CellRun:
    """The cell's record, whatever became of it. A wrong answer has no second attempt: it voids the
    cell at once (method, rule 5). StorageProblem where no record could be kept; NoService where the
    service does not come up any more, the record says so then if there was an attempt before."""
    first = _attempt(group, planned, session, watch, None)
    if isinstance(first, CellRun):
        return first
    if first.final:
        return keep(group, planned, session.cores, first, None)
    group.say(f"{planned.cell.id}: once more on a fresh service: {in_short(first.reason)}")
    remove(group.run.cell(planned.block, planned.cell.id).path)
    try:
        second = _attempt(group, planned, session, watch, first)
    except NoService as error:
        lost = Failed(why(error), flags=first.flags)
        keep(group, planned, session.cores, lost, first.reason)
        raise
    if isinstance(second, CellRun):
        return second
    return keep(group, planned, session.cores, second, first.reason)


def fail(group: Group, planned: PlannedCell, reason: str) -> CellRun:
    """The record of a cell that there was no service for, where it has none yet."""
    if group.run.has_record(planned):
        return read_model(group.run.cell(planned.block, planned.cell.id).record, CellRun)
    cores = place(planned.cell.placement, allowed_cores())
    return keep(group, planned, cores, Failed(reason), None)


def why(error: Exception) -> str:
    """An error as a cell's record tells it; StorageProblem where no record could be kept."""
    if isinstance(error, StorageProblem):
        raise error
    if found := storage.problem(error):
        raise found from error
    if isinstance(error, Failure | httpx.HTTPError):
        return str(error) or type(error).__name__
    told = "".join(traceback.format_exception(error)).strip().splitlines()[-TRACEBACK_LINES:]
    return "\n".join(["an error that nobody expected:", *told])


def in_short(reason: str) -> str:
    """Its first line: the rest is the end of a log."""
    return reason.partition("\n")[0].removesuffix("; its log ends:")


def _attempt(
    group: Group,
    planned: PlannedCell,
    session: Session,
    watch: Callable[[Live], None],
    first: Failed | None,
) -> CellRun | Failed:
    flags = first.flags if first else ()
    try:
        if reason := made_ready(group, planned, session):
            absent = is_absent(planned.cell, session)
            return Failed(reason, final=True, absent=absent, flags=flags)
        flags = tuple(dict.fromkeys((*flags, *session.take_flags())))
        task = task_of(group, planned, session.cores, first.reason if first else None, flags)
        record = measure(session.service, task, group.run, watch)
    except NoService:
        raise
    except Exception as error:  # whatever it is, the next cell has its turn
        session.spent = True
        error = worse(error, [group.run.cell(planned.block, planned.cell.id).samples])
        wrong = isinstance(error, WrongAnswers)
        return Failed(why(error), wrong=wrong, final=wrong, flags=flags)
    session.spent = is_spent(record)
    return record


def is_absent(cell: Cell, session: Session) -> bool:
    """Whether the strategy is one that only some runtimes have, and not this one."""
    return (cell.service, cell.strategy) in OPTIONAL and cell.strategy not in session.offered


def worse(error: Exception, samples: Iterable[Path]) -> Exception:
    """The error of an attempt, or what its loads had shown before: one wrong answer is enough, and
    no second attempt may hide it (method, rule 5)."""
    wrong = sum(map(jtl.wrong_answers, samples))
    if not wrong or isinstance(error, WrongAnswers):
        return error
    return WrongAnswers(f"{wrong} answers were wrong; then: {why(error)}")


def made_ready(group: Group, planned: PlannedCell, session: Session) -> str | None:
    """A service that is as it was for the first cell, where the last one left it otherwise; or why
    the cell cannot be measured on any, which needs none."""
    strategy = planned.cell.strategy
    if strategy not in session.unfit:
        renew_if_spent(group.run, planned, session)
        if session.cold:
            warm_all(group.order, group.run, group.cells, session)
    return session.unfit.get(strategy)


def task_of(
    group: Group,
    planned: PlannedCell,
    cores: Cores,
    first_failure: str | None,
    flags: tuple[str, ...] = (),
) -> Task:
    """What there is to do for a cell."""
    return Task(
        planned=planned,
        profile=group.order.profile,
        requests=requests_of(group.order.experiment, planned.cell.complexity),
        payload_seed=group.order.experiment.seed,
        cores=cores,
        client=group.order.experiment.client,
        flags=(*flags, *(("retried",) if first_failure else ())),
        first_failure=first_failure,
    )


def keep(
    group: Group, planned: PlannedCell, cores: Cores, failed: Failed, first_failure: str | None
) -> CellRun:
    """Write the record of a cell that failed."""
    task = task_of(group, planned, cores, first_failure, failed.flags)
    marks = {"wrong-answers": failed.wrong, "not-offered": failed.absent}
    flags = (*task.flags, *(flag for flag, holds in marks.items() if holds))
    record = task.record("failed", reason=failed.reason, flags=flags)
    write_record(group.run.cell(planned.block, planned.cell.id).record, record)
    return record
