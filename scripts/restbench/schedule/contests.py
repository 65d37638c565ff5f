"""Cells that take turns at one load have two attempts together, as a cell of its own has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from restbench.drive.session import Session, is_spent
from restbench.drive.taking_turns import Watch, measure
from restbench.experiment.cell import Cell
from restbench.experiment.plan import contest
from restbench.experiment.profile import Profile
from restbench.experiment.records import CellRun, PlannedCell
from restbench.failures import NoService, WrongAnswers
from restbench.schedule.attempts import (
    Failed,
    Group,
    in_short,
    is_absent,
    keep,
    made_ready,
    task_of,
    why,
    worse,
)
from restbench.store.store import Run
from restbench.store.writing import remove


def half_measured(plan: Sequence[PlannedCell], profile: Profile, run: Run) -> list[Path]:
    """The folders of cells that have a record, while another that took turns with them has none:
    it would have to take its turns alone, or with fewer."""
    if not profile.turns:
        return []
    together: dict[tuple[int, Cell], list[PlannedCell]] = {}
    for each in plan:
        together.setdefault((each.block, contest(each.cell)), []).append(each)
    return [
        run.cell(each.block, each.cell.id).path
        for cells in together.values()
        if not all(map(run.has_record, cells))
        for each in cells
        if run.has_record(each)
    ]


def measure_contest(
    group: Group, cells: Sequence[PlannedCell], session: Session, watch: Watch
) -> list[CellRun]:
    """The record of each, whatever became of it, in their order: those that the service can be
    measured with take turns, the others have failed. One whose common load saw a wrong answer and
    then failed is void with all others of it.

    StorageProblem and NoService as with a cell of its own (`attempts.measure_cell`).
    """
    found = _attempt(group, cells, session, watch, None)
    if isinstance(found, list):
        return found
    if found.final:
        return _failed(group, cells, session, found, None)
    group.say(f"{_name(cells)}: once more on a fresh service: {in_short(found.reason)}")
    for each in cells:
        remove(group.run.cell(each.block, each.cell.id).path)
    try:
        second = _attempt(group, cells, session, watch, found)
    except NoService as error:
        _failed(group, cells, session, Failed(why(error), flags=found.flags), found.reason)
        raise
    if isinstance(second, list):
        return second
    return _failed(group, cells, session, second, found.reason)


def _name(cells: Sequence[PlannedCell]) -> str:
    first, *others = cells
    return " ".join([first.cell.id, *(f"+{each.cell.strategy}" for each in others)])


def _attempt(
    group: Group,
    cells: Sequence[PlannedCell],
    session: Session,
    watch: Watch,
    first: Failed | None,
) -> list[CellRun] | Failed:
    flags = first.flags if first else ()
    try:
        unfit = {each.key: made_ready(group, each, session) for each in cells}
        fit = [each for each in cells if unfit[each.key] is None]
        flags = tuple(dict.fromkeys((*flags, *session.take_flags())))
        reason = first.reason if first else None
        tasks = [task_of(group, each, session.cores, reason, flags) for each in fit]
        measured = measure(session.service, tasks, group.run, watch) if tasks else []
    except NoService:
        raise
    except Exception as error:  # whatever it is, the next cells have their turn
        session.spent = True
        loads = [group.run.cell(each.block, each.cell.id).common_load.samples for each in cells]
        error = worse(error, loads)
        wrong = isinstance(error, WrongAnswers)
        return Failed(why(error), wrong=wrong, final=wrong, flags=flags)
    session.spent = any(map(is_spent, measured))
    records = {each.cell: each for each in measured}
    for each in cells:
        if reason := unfit[each.key]:
            absent = is_absent(each.cell, session)
            lack = Failed(reason, final=True, absent=absent, flags=flags)
            records[each.cell] = keep(group, each, session.cores, lack, None)
    return [records[each.cell] for each in cells]


def _failed(
    group: Group,
    cells: Sequence[PlannedCell],
    session: Session,
    failed: Failed,
    first_failure: str | None,
) -> list[CellRun]:
    return [keep(group, each, session.cores, failed, first_failure) for each in cells]
