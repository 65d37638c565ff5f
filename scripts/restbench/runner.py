"""A whole run: from the plan to the raw data of every cell. Reads like a table of contents."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from restbench import measures, stopping
from restbench.attempts import Group, fail, measure_cell, why
from restbench.begin import begin, finish, interrupted
from restbench.estimate import DASHBOARD_S, Estimator, expected_seconds, group_key
from restbench.live import Live
from restbench.order import Order
from restbench.preparation import prepare
from restbench.records import CellRun, Manifest, PlannedCell, Proof
from restbench.session import open_session
from restbench.store import Run


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
        interrupted(run, manifest)
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
    order: Order, run: Run, cells: Sequence[PlannedCell], estimator: Estimator, view: View
) -> None:
    """Every cell of the group gets its record, and the next group its turn, whatever happens."""
    group = Group(order, run, cells, view.note)
    to_go = deque(cells)

    def done(record: CellRun) -> None:
        to_go.popleft()
        estimator.done(time.monotonic())
        view.done(record, estimator.finished, estimator.to_go_s())

    try:
        with open_session(run, cells[0], order.attached) as session:
            prepare(group, session, view.proven)
            while to_go:
                view.started(to_go[0], estimator.to_go_s())
                done(measure_cell(group, to_go[0], session, partial(view.measuring, to_go[0])))
    except Exception as error:  # no service, whatever the reason: so no result
        reason = why(error)
        while to_go:
            done(fail(group, to_go[0], reason))
