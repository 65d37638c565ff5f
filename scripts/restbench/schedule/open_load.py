"""A whole open-load run: for each cell the walk to its highest rate that meets the objective."""

from __future__ import annotations

from restbench.drive.session import open_session
from restbench.experiment.open_experiment import OpenOrder
from restbench.experiment.records import Manifest, PlannedCell
from restbench.failures import NoService, NotOffered, WrongAnswers
from restbench.schedule import resuming
from restbench.schedule.attempts import in_short, why, worse
from restbench.schedule.begin import begin, bodies, finish, interrupted
from restbench.schedule.open_walk import Say, Walker
from restbench.store import calibration
from restbench.store.open_records import Walk
from restbench.store.store import Run
from restbench.store.writing import remove, write_record


def execute(order: OpenOrder, run: Run, say: Say) -> None:
    """Walk every cell of the plan; a failed walk is recorded and the run goes on.

    What is started is stopped, however this ends.
    """
    manifest = _open(order, run, say)
    try:
        for planned in order.plan:
            if run.has_record(planned):
                continue
            resuming.require_as_begun(run)
            say(f"{planned.order}/{len(order.plan)}  {planned.cell.id}")
            walked = _walk_cell(order, run, planned, say)
            write_record(run.walk_record(planned.cell.id), walked)
            if walked.status == "failed":
                say(f"FAILED {planned.cell.id}: {walked.reason}")
    except BaseException:
        interrupted(run, manifest)
        raise
    finish(run, manifest, status="complete")


def _open(order: OpenOrder, run: Run, say: Say) -> Manifest:
    """Begin the run, or go on with one that ended too early; a walk in flight begins anew."""
    if not run.manifest_file.exists():
        begun = begin(order, run)
        calibration.adopt(run, say)
        return begun
    resuming.require_bodies(run, bodies(order, run))
    manifest = resuming.go_on(run, order.plan)
    say(resuming.told(run))
    return manifest


def _walk_cell(order: OpenOrder, run: Run, planned: PlannedCell, say: Say) -> Walk:
    """The record of a cell's walk, at the second attempt if need be, as with a closed load.

    StorageProblem where no record could be kept.
    """
    try:
        return _walk(order, run, planned, say)
    except Exception as error:  # whatever it is, the next cell has its turn
        error = worse(error, run.walk_samples(planned.cell.id))
        first = why(error)
        if isinstance(error, WrongAnswers | NotOffered | NoService):
            return _failed(order, planned, error, None)
    say(f"{planned.cell.id}: once more on a fresh service: {in_short(first)}")
    remove(run.walk_record(planned.cell.id).parent)
    try:
        walked = _walk(order, run, planned, say)
    except Exception as error:
        return _failed(order, planned, worse(error, run.walk_samples(planned.cell.id)), first)
    return walked.model_copy(update={"first_failure": first, "flags": (*walked.flags, "retried")})


def _walk(order: OpenOrder, run: Run, planned: PlannedCell, say: Say) -> Walk:
    """One attempt, on a service process of its own."""
    with open_session(run, planned, order.attached) as session:
        walker = Walker(order, run, planned, session, say)
        return _begun(order, planned).model_copy(update=walker.walk())


def _failed(
    order: OpenOrder, planned: PlannedCell, error: Exception, first_failure: str | None
) -> Walk:
    flags = (
        *(("retried",) if first_failure else ()),
        *(("wrong-answers",) if isinstance(error, WrongAnswers) else ()),
    )
    told = {"status": "failed", "reason": why(error), "flags": flags}
    return _begun(order, planned).model_copy(update=told | {"first_failure": first_failure})


def _begun(order: OpenOrder, planned: PlannedCell) -> Walk:
    return Walk(
        cell=planned.cell,
        shape=order.experiment.shape(planned.cell.complexity),
        order=planned.order,
        status="walked",
    )
