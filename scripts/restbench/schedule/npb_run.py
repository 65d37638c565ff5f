"""A whole NPB run: round by round, each cell without and within the service."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from restbench.drive import npb_call
from restbench.drive.session import open_session
from restbench.experiment.npb_plan import NpbOrder, group_of
from restbench.experiment.npb_work import work_of
from restbench.experiment.records import Manifest, PlannedCell
from restbench.failures import NoService
from restbench.schedule import resuming
from restbench.schedule.begin import begin_without_bodies, finish, interrupted
from restbench.schedule.npb_measure import Group, fail, measure_cell
from restbench.store.npb_records import NpbRun
from restbench.store.store import Run
from restbench.store.writing import write_text

Say = Callable[[str], None]


def execute(order: NpbOrder, run: Run, say: Say) -> None:
    """Measure every cell of the plan that has no record yet; failed ones are recorded and the run
    goes on. What is started is stopped, however this ends."""
    manifest = _open(order, run, say)
    try:
        for _, cells in itertools.groupby(order.plan, key=partial(group_of, profile=order.profile)):
            _measure_group(order, run, [each for each in cells if not run.has_record(each)], say)
    except BaseException:
        interrupted(run, manifest)
        raise
    finish(run, manifest, status="complete")


def choose_heap(mebibytes: int) -> None:
    """The heap of every JVM that is started from here on, in both its forms; what the user's
    JAVA_OPTIONS say comes behind it, and the last one counts."""
    given = os.environ.get("JAVA_OPTIONS", "")
    heap = f"-Xms{mebibytes}m -Xmx{mebibytes}m"
    os.environ["JAVA_OPTIONS"] = f"{heap} {given}".strip()


def _open(order: NpbOrder, run: Run, say: Say) -> Manifest:
    """Begin the run, or go on with one that ended too early."""
    if run.manifest_file.exists():
        resuming.require_bodies(run, _bodies(order, run))
        manifest = resuming.go_on(run, order.plan)
        say(resuming.told(run))
        return manifest
    for path, text in _bodies(order, run).items():
        write_text(path, text)
    write_text(run.published_file, order.published_text)
    return begin_without_bodies(order, run, order.claims_text)


def _bodies(order: NpbOrder, run: Run) -> dict[Path, str]:
    """What the run sends: the text of each file."""
    levels = {each.cell.complexity for each in order.plan}
    return {run.npb_body(level): npb_call.body(work_of(level)).decode() for level in levels}


def _measure_group(order: NpbOrder, run: Run, cells: Sequence[PlannedCell], say: Say) -> None:
    """Every cell gets its record, and the next group its turn, whatever happens."""
    if not cells:
        return
    resuming.require_as_begun(run)
    if work_of(cells[0].cell.complexity).cores is not None:
        _measure_all(Group(order, run, None, say), cells)
        return
    try:
        with open_session(run, cells[0]) as session:
            _measure_all(Group(order, run, session, say), cells)
    except NoService as error:
        for planned in cells:
            if not run.has_record(planned):
                _tell(say, order, planned, fail(order, run, planned, error))


def _measure_all(group: Group, cells: Sequence[PlannedCell]) -> None:
    for planned in cells:
        _tell(group.say, group.order, planned, measure_cell(group, planned))


def _tell(say: Say, order: NpbOrder, planned: PlannedCell, record: NpbRun) -> None:
    place = f"{planned.order}/{len(order.plan)}  round {planned.block}  {planned.cell.id}"
    if record.status != "measured":
        say(f"{place}  {record.status.upper()}: {(record.reason or '').partition(chr(10))[0]}")
        return
    seconds = [each.kernel_seconds for each in record.direct]
    served = record.served[-1].answer.kernel_seconds if record.served else None
    told = f"fresh {seconds[0]:.4g} s, warm {seconds[-1]:.4g} s"
    say(f"{place}  {told}" + (f", in the service {served:.4g} s" if served else ""))
