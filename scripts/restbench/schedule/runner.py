"""A whole run: from the plan to the raw data of every cell. Reads like a table of contents."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from restbench.analyse import measures
from restbench.drive.session import Session, open_session
from restbench.experiment.order import Order
from restbench.experiment.plan import contest
from restbench.experiment.records import CellRun, Manifest, PlannedCell, Proof
from restbench.machine.live import Live
from restbench.machine.phases import spent_on
from restbench.schedule import resuming, stopping
from restbench.schedule.attempts import Group, fail, measure_cell, why
from restbench.schedule.begin import begin, bodies, finish, interrupted
from restbench.schedule.contests import half_measured, measure_contest
from restbench.schedule.estimate import DASHBOARD_S, Estimator, expected_seconds, group_key
from restbench.schedule.preparation import prepare
from restbench.store.store import Run


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

    def taking_turns(self, planned: PlannedCell, measured_s: float, of_s: float) -> None:
        """The cell and those that take turns with it go on: each was measured for so long."""

    def done(self, record: CellRun, finished: int, to_go_s: float) -> None:
        """A cell is measured, or has failed."""


def execute(order: Order, run: Run, view: View) -> Manifest:
    """Measure every cell of the plan that has no record yet; returns the finished manifest.

    Failed cells are recorded and the run goes on. What is started is stopped, however this ends.
    """
    manifest = _open(order, run, view)
    try:
        count = _Count(order, run)
        for block, planned in itertools.groupby(order.plan, key=lambda each: each.block):
            cells = list(planned)
            if block > order.profile.blocks:
                if not _is_wanted(order, run, cells):
                    break
                count.extend(order, run, cells)
                view.extended(count.all, f"block {block}: precision lacks")
            for _, group in itertools.groupby(cells, key=group_key):
                _measure_group(order, run, list(group), count, view)
    except BaseException:
        interrupted(run, manifest)
        raise
    return finish(run, manifest, status="complete", **_measured_plan(order, run, count))


@spent_on("checks")
def _open(order: Order, run: Run, view: View) -> Manifest:
    """Begin the run, or go on with one that ended too early."""
    if not run.manifest_file.exists():
        return begin(order, run, order.claims_text)
    resuming.require_bodies(run, bodies(order, run))
    halves = half_measured(order.plan, order.profile, run)
    manifest = resuming.go_on(run, order.plan, halves)
    view.note(resuming.told(run))
    return manifest


class _Count:
    """How many cells there are, how many have their record, and how long the rest takes."""

    def __init__(self, order: Order, run: Run) -> None:
        """What is measured in any case; more is added block by block."""
        to_go = _without_record(run, order.certain)
        dashboards = len({each.cell for each in order.plan if each.test_ids})
        self.all, self.finished = len(order.certain), len(order.certain) - len(to_go)
        self._estimator = Estimator(
            expected_seconds(to_go, order.profile), time.monotonic(), dashboards * DASHBOARD_S
        )

    def extend(self, order: Order, run: Run, cells: Sequence[PlannedCell]) -> None:
        """Another block follows."""
        to_go = _without_record(run, cells)
        self.all += len(cells)
        self.finished += len(cells) - len(to_go)
        self._estimator.extend(expected_seconds(to_go, order.profile))

    def done(self) -> None:
        """The next cell has its record."""
        self.finished += 1
        self._estimator.done(time.monotonic())

    def to_go_s(self) -> float:
        """Seconds that the rest will take."""
        return self._estimator.to_go_s()


def _without_record(run: Run, cells: Sequence[PlannedCell]) -> list[PlannedCell]:
    return [each for each in cells if not run.has_record(each)]


def _is_wanted(order: Order, run: Run, cells: Sequence[PlannedCell]) -> bool:
    """Whether a block beyond the certain ones is to be measured: it has begun, or precision lacks.
    What a block has measured so far does not decide on it (method, rule 6)."""
    return any(map(run.has_record, cells)) or _lacks_precision(order, run)


def _lacks_precision(order: Order, run: Run) -> bool:
    """Looked at only at a block's end (method, rule 6)."""
    precision = order.profile.precision
    return precision is not None and bool(stopping.imprecise(measures.rows(run), precision))


def _measured_plan(order: Order, run: Run, count: _Count) -> dict[str, object]:
    """What the stop rule has made of the plan: the blocks that were measured, and why no more."""
    plan = order.plan[: count.all]
    if order.profile.precision is None:
        return {"plan": plan}
    rows = measures.rows(run)
    return {
        "plan": plan,
        "stopped": stopping.verdict(rows, order.profile.precision, plan[-1].block),
    }


def _measure_group(
    order: Order, run: Run, cells: Sequence[PlannedCell], count: _Count, view: View
) -> None:
    """Every cell of the group gets its record, and the next group its turn, whatever happens."""
    # All of the group is warmed up, as it was before an interruption: its cells share a process.
    group = Group(order, run, cells, view.note)
    to_go = deque(_without_record(run, cells))
    if not to_go:
        return
    resuming.require_as_begun(run)

    def done(record: CellRun) -> None:
        to_go.popleft()
        count.done()
        view.done(record, count.finished, count.to_go_s())

    try:
        settings = order.experiment.settings
        with open_session(run, cells[0], order.attached, settings) as session:
            session.resumed = len(to_go) < len(cells)
            prepare(group, session, view.proven)
            while to_go:
                view.started(to_go[0], count.to_go_s())
                for record in _measure_next(group, to_go, session, view):
                    done(record)
    except Exception as error:  # no service, whatever the reason: so no result
        reason = why(error)
        while to_go:
            done(fail(group, to_go[0], reason))


def _measure_next(
    group: Group, to_go: Sequence[PlannedCell], session: Session, view: View
) -> list[CellRun]:
    """The record of the next cell, and of those that take turns with it."""
    first = to_go[0]
    if not group.order.profile.turns:
        return [measure_cell(group, first, session, partial(view.measuring, first))]
    together = [each for each in to_go if contest(each.cell) == contest(first.cell)]
    return measure_contest(group, together, session, partial(view.taking_turns, first))
