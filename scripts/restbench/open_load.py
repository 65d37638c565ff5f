"""A whole open-load run: for each cell the walk to its highest rate that meets the objective."""

from __future__ import annotations

import httpx

from restbench.begin import begin, finish, interrupted
from restbench.failures import Failure, WrongAnswers
from restbench.open_experiment import OpenOrder
from restbench.open_records import Walk
from restbench.open_walk import Say, Walker
from restbench.records import PlannedCell
from restbench.session import open_session
from restbench.store import Run, write_model


def execute(order: OpenOrder, run: Run, say: Say) -> None:
    """Walk every cell of the plan; a failed walk is recorded and the run goes on.

    What is started is stopped, however this ends.
    """
    manifest = begin(order, run)
    try:
        for planned in order.plan:
            say(f"{planned.order}/{len(order.plan)}  {planned.cell.id}")
            write_model(run.walk_record(planned.cell.id), _walk_cell(order, run, planned, say))
    except BaseException:
        interrupted(run, manifest)
        raise
    finish(run, manifest, status="complete")


def _walk_cell(order: OpenOrder, run: Run, planned: PlannedCell, say: Say) -> Walk:
    """The record of a cell's walk, on a service process of its own."""
    begun = Walk(
        cell=planned.cell,
        shape=order.experiment.shape(planned.cell.complexity),
        order=planned.order,
        status="walked",
    )
    try:
        with open_session(run, planned, order.attached) as session:
            walker = Walker(order, run, planned, session, say)
            return begun.model_copy(update=walker.walk())
    except (Failure, httpx.HTTPError) as error:
        wrong = ("wrong-answers",) if isinstance(error, WrongAnswers) else ()
        reason = str(error) or type(error).__name__
        say(f"FAILED {planned.cell.id}: {reason}")
        return begun.model_copy(update={"status": "failed", "reason": reason, "flags": wrong})
