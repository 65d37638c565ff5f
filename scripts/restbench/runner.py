"""A whole run: from the plan to the raw data of every cell. Reads like a table of contents."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Protocol

import httpx

from restbench import measures, proof, stopping
from restbench.begin import begin, finish
from restbench.cell import Cell
from restbench.estimate import DASHBOARD_S, Estimator, expected_seconds, group_key
from restbench.failures import EnvironmentProblem, Failure, WrongAnswers
from restbench.live import Live
from restbench.measure import Task, measure
from restbench.order import Order
from restbench.payload import payload_of
from restbench.records import CellRun, Manifest, PlannedCell, Proof
from restbench.session import Session, is_spent, open_session, renew_if_spent
from restbench.store import Run, write_json, write_model
from restbench.warming import warm_all


class View(Protocol):
    """Who is told how a run goes on."""

    def note(self, text: str) -> None:
        """A line worth reading."""

    def proven(self, proof: Proof) -> None:
        """A strategy was looked at while it served."""

    def extended(self, cells: int, why: str) -> None:
        """Precision lacks, so another block follows; `cells` is the new number of all cells."""

    def started(self, planned: PlannedCell, to_go_s: float) -> None:
        """A cell begins."""

    def measuring(self, planned: PlannedCell, now: Live) -> None:
        """The cell goes on; told about once a second."""

    def done(self, record: CellRun, finished: int, to_go_s: float) -> None:
        """A cell is measured, or has failed."""


def execute(order: Order, run: Run, view: View) -> Manifest:
    """Measure every cell of the plan; returns the finished manifest.

    Failed cells are recorded and the run goes on. What is started is stopped, however this ends.
    """
    manifest = begin(order, run, order.claims_text)
    try:
        estimator = _estimator(order)
        for block, planned in itertools.groupby(order.plan, key=lambda each: each.block):
            cells = list(planned)
            if block > order.profile.blocks:
                if not _lacks_precision(order, run):
                    break
                estimator.extend(expected_seconds(cells, order.profile))
                view.extended(len(estimator.expected_s), f"block {block}: precision lacks")
            for _, group in itertools.groupby(cells, key=group_key):
                _measure_group(order, run, list(group), estimator, view)
    except BaseException:
        finish(run, manifest, status="interrupted")
        raise
    return finish(run, manifest, status="complete", **_measured_plan(order, run, estimator))


def _lacks_precision(order: Order, run: Run) -> bool:
    """Looked at only at a block's end (method, rule 6)."""
    precision = order.profile.precision
    return precision is not None and bool(stopping.imprecise(measures.rows(run), precision))


def _measured_plan(order: Order, run: Run, estimator: Estimator) -> dict[str, object]:
    """What the stop rule has made of the plan: the blocks that were measured, and why no more."""
    plan = order.plan[: estimator.finished]
    if order.profile.precision is None:
        return {"plan": plan}
    rows = measures.rows(run)
    return {
        "plan": plan,
        "stopped": stopping.verdict(rows, order.profile.precision, plan[-1].block),
    }


def _estimator(order: Order) -> Estimator:
    dashboards = len({each.cell for each in order.plan if each.test_ids})
    expected_s = expected_seconds(order.certain, order.profile)
    return Estimator(expected_s, time.monotonic(), dashboards * DASHBOARD_S)


def _measure_group(
    order: Order, run: Run, group: Sequence[PlannedCell], estimator: Estimator, view: View
) -> None:
    with open_session(run, group[0], order.attached) as session:
        _prepare(order, run, group, session, view)
        for planned in group:
            renew_if_spent(run, planned, session)
            if session.restarted:
                warm_all(order, group, session)
            view.started(planned, estimator.to_go_s())
            record = _measure_cell(order, run, planned, session, view)
            estimator.done(time.monotonic())
            view.done(record, estimator.finished, estimator.to_go_s())


def _prepare(
    order: Order, run: Run, group: Sequence[PlannedCell], session: Session, view: View
) -> None:
    """Prove each strategy of the group and warm all of them up, before the first cell."""
    for strategy in dict.fromkeys(planned.cell.strategy for planned in group):
        cell = next(planned.cell for planned in group if planned.cell.strategy == strategy)
        if strategy not in session.offered:
            view.note(_not_offered(cell, session))
            continue
        proven = proof.prove(session.service, strategy, cell.placement, session.cores.service)
        _keep_proof(run, proven)
        view.proven(proven)
    warm_all(order, group, session)


def _keep_proof(run: Run, proven: Proof) -> None:
    """One proof a service, strategy and placement: of several blocks the first that denies it."""
    kept = {(each.service, each.strategy, each.placement): each for each in run.proofs()}
    known = kept.get((proven.service, proven.strategy, proven.placement))
    if known is None or known.does is not False:
        kept[proven.service, proven.strategy, proven.placement] = proven
    write_json(run.proofs_file, [each.model_dump() for each in kept.values()])


def _measure_cell(
    order: Order, run: Run, planned: PlannedCell, session: Session, view: View
) -> CellRun:
    """Measure a cell; a failure becomes its record, and its service is not used again."""
    offered = planned.cell.strategy in session.offered
    task = Task(
        planned=planned,
        profile=order.profile,
        payload=payload_of(order.experiment, planned.cell.complexity),
        payload_seed=order.experiment.seed,
        cores=session.cores,
        flags=session.take_flags() if offered else (),
    )
    if not offered:
        return _failed(run, task, EnvironmentProblem(_not_offered(planned.cell, session)))
    try:
        record = measure(session.service, task, run, watch=lambda now: view.measuring(planned, now))
    except (Failure, httpx.HTTPError) as error:
        record = _failed(run, task, error)
    session.spent = is_spent(record)
    return record


def _not_offered(cell: Cell, session: Session) -> str:
    return (
        f"{cell.service} {cell.strategy}: not offered by this service on {session.runtime}; "
        f"it offers {', '.join(session.offered)}"
    )


def _failed(run: Run, task: Task, error: Exception) -> CellRun:
    wrong = ("wrong-answers",) if isinstance(error, WrongAnswers) else ()
    reason = str(error) or type(error).__name__
    record = task.record("failed", reason=reason, flags=(*task.flags, *wrong))
    write_model(run.cell(task.planned.block, task.cell.id).record, record)
    return record
