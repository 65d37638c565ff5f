"""One measurement of an NPB cell: a process without HTTP, and the calls of a warm service."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from restbench.drive import npb_call, npb_direct, quiet
from restbench.drive.npb_call import Refused
from restbench.drive.npb_direct import Program
from restbench.drive.session import Session, end_of_log, renew_if_spent
from restbench.experiment.npb_plan import NpbOrder
from restbench.experiment.npb_work import work_of
from restbench.experiment.records import PlannedCell
from restbench.failures import BadConfiguration, NoService, NotOffered, WrongAnswers
from restbench.machine.conditions import Conditions
from restbench.machine.placement import allowed_cores, core_list, place
from restbench.schedule.attempts import in_short, why
from restbench.store.npb_records import KernelRun, NpbRun, ServedRun
from restbench.store.store import Run
from restbench.store.writing import remove, write_record

#: What a second attempt would not change.
FINAL = (WrongAnswers, NotOffered, NoService, Refused, BadConfiguration)


@dataclass(frozen=True)
class Group:
    """Cells of one round that share a service process; `session` is None where they need none."""

    order: NpbOrder
    run: Run
    session: Session | None
    say: Callable[[str], None]


def measure_cell(group: Group, planned: PlannedCell) -> NpbRun:
    """The record, whatever became of it, at the second attempt if need be; it is on the disk then.

    StorageProblem where it could not be kept.
    """
    try:
        found = _measure(group, planned)
    except Exception as error:  # whatever it is, the next cell has its turn
        first = why(error)
        if isinstance(error, FINAL):
            return _kept(group, planned, _failed(group, planned, error))
    else:
        return _kept(group, planned, found)
    group.say(f"{planned.cell.id}: once more on a fresh service: {in_short(first)}")
    remove(group.run.cell(planned.block, planned.cell.id).path)
    try:
        found = _measure(group, planned)
    except Exception as error:
        found = _failed(group, planned, error)
    told = {"first_failure": first, "flags": (*found.flags, "retried")}
    return _kept(group, planned, found.model_copy(update=told))


def fail(order: NpbOrder, run: Run, planned: PlannedCell, error: Exception) -> NpbRun:
    """The record of a cell that there was no service for."""
    group = Group(order, run, None, lambda _line: None)
    return _kept(group, planned, _failed(group, planned, error))


def _measure(group: Group, planned: PlannedCell) -> NpbRun:
    """One attempt. Odd rounds begin with the service, even ones with the process without HTTP, so
    that what drifts within a measurement goes to neither."""
    folder = group.run.cell(planned.block, planned.cell.id)
    folder.path.mkdir(parents=True, exist_ok=True)
    if group.session:
        renew_if_spent(group.run, planned, group.session)
    conditions = Conditions(folder.path)
    before = quiet.look(group.session.service.pids() if group.session else ())
    served: tuple[ServedRun, ...] = ()
    if planned.block % 2:
        served = _served(group, planned)
    direct = _direct(group, planned)
    if not planned.block % 2:
        served = _served(group, planned)
    conditions.check_end()
    found = {"before": before, "served": served, "direct": direct}
    return _begun(group, planned).model_copy(update=found)


def _served(group: Group, planned: PlannedCell) -> tuple[ServedRun, ...]:
    session, work = group.session, work_of(planned.cell.complexity)
    if session is None:
        return ()
    profile = group.order.profile
    runs = profile.runs(work).runs
    try:
        answers = npb_call.calls(session.service, planned.cell, work, runs, profile.run_max_s)
        return tuple(answers)
    except Exception as error:
        # A service that has only said no is as it was.
        session.spent = not isinstance(error, Refused | NotOffered)
        raise


def _direct(group: Group, planned: PlannedCell) -> tuple[KernelRun, ...]:
    log = group.run.cell(planned.block, planned.cell.id).direct_log
    return npb_direct.run(_program(group, planned), log, group.order.profile.run_max_s)


def _program(group: Group, planned: PlannedCell) -> Program:
    cell, work = planned.cell, work_of(planned.cell.complexity)
    runs = group.order.profile.runs(work).runs
    return Program(cell.service, cell.strategy, work, runs, core_list(_cores(planned)))


def _cores(planned: PlannedCell) -> tuple[int, ...]:
    """The service's cores; of a cell that looks at their number the first few of them."""
    cell, width = planned.cell, work_of(planned.cell.complexity).cores
    return place(cell.placement, allowed_cores()).service[:width]


def _failed(group: Group, planned: PlannedCell, error: Exception) -> NpbRun:
    session = group.session
    log = end_of_log(session) if session and session.spent else ""
    wrong = ("wrong-answers",) if isinstance(error, WrongAnswers) else ()
    told = {
        "status": "refused" if isinstance(error, Refused) else "failed",
        "reason": why(error) + log,
        "flags": (*_flags(group), *wrong),
    }
    return _begun(group, planned).model_copy(update=told)


def _begun(group: Group, planned: PlannedCell) -> NpbRun:
    """The record without what was measured."""
    commands = {"direct": shlex.join(npb_direct.command(_program(group, planned)))}
    if group.session:
        commands["service"] = group.session.service.command
    return NpbRun(
        cell=planned.cell,
        block=planned.block,
        order=planned.order,
        status="measured",
        kept=group.order.profile.runs(work_of(planned.cell.complexity)).kept,
        cores=_cores(planned),
        commands=commands,
        flags=_flags(group),
    )


def _flags(group: Group) -> tuple[str, ...]:
    """What is to be said of the service."""
    return group.session.take_flags() if group.session else ()


def _kept(group: Group, planned: PlannedCell, record: NpbRun) -> NpbRun:
    write_record(group.run.cell(planned.block, planned.cell.id).npb_record, record)
    return record
