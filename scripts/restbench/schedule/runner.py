"""A whole run: its blocks, until every claim is decided or the time is up, and its end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from restbench.analyse import measures
from restbench.experiment.order import Order
from restbench.experiment.records import Manifest
from restbench.experiment.statistics import FEWEST_BLOCKS
from restbench.failures import EnvironmentProblem, StorageProblem, first_line
from restbench.judge import claims
from restbench.judge.claims import Decision
from restbench.schedule import allocation, begin, block, windows
from restbench.schedule.block_run import BlockOrder
from restbench.show.progress import ProgressView
from restbench.store import store
from restbench.store.store import Run


def execute(order: Order, run: Run, view: ProgressView) -> Manifest:
    """Measure the blocks that are not finished; returns the finished manifest.

    What is started is stopped, however this ends.
    """
    is_new = not run.manifest_file.exists()
    manifest = (begin.begin if is_new else begin.go_on)(order, run, view.note)
    store.point_latest_to(run)
    try:
        finished = {each.block for each in run.trials.blocks() if each.finished}
        to_come = [each for each in range(1, order.profile.most_blocks + 1) if each not in finished]
        while True:
            # Claims are evaluated at the end of a block only (rule 6).
            decisions = claims.decisions(run, measures.rows(run)) if finished else []
            _note_verdicts(decisions, view)
            waiting = undecided(decisions)
            if not to_come:
                break
            number = to_come[0]
            needed = allocation.needed_cells(waiting, is_early=len(finished) < FEWEST_BLOCKS)
            if number > order.profile.blocks:
                if not (waiting and allocation.has_time(order, run, needed)):
                    break
            elif finished and not _is_begun(order, run, view):
                break
            seconds = allocation.block_seconds(order, run, number, needed)
            in_time = len(finished) + max(1, allocation.blocks_to_come(order, run))
            _measure(
                BlockOrder(
                    order,
                    run,
                    view,
                    number,
                    allocation.groups_of(order, run, needed),
                    seconds,
                    needed=needed,
                    planned=min(order.profile.blocks, in_time),
                    is_followed=len(to_come) > 1
                    and allocation.has_time(order, run, needed, after_s=seconds),
                )
            )
            finished.add(to_come.pop(0))
        windows.take(order, run, view)
    except BaseException:
        with suppress(StorageProblem):  # on a full disk the manifest still says `running`
            begin.finish(run, manifest, status="interrupted")
        raise
    measured = tuple(each for each in order.plan if each.block <= max(finished, default=0))
    return begin.finish(run, manifest, status="complete", plan=measured)


def _note_verdicts(decisions: Sequence[Decision], view: ProgressView) -> None:
    """Show the verdict of each claim so far; claims that are not measured share one line."""
    for each in decisions:
        if each.verdict != "not-measured":
            view.note(f"  {each.id:14} {each.headline}")
    if absent := [each.id for each in decisions if each.verdict == "not-measured"]:
        view.note(f"  not measured   {', '.join(absent)}")


def undecided(decisions: Sequence[Decision]) -> list[Decision]:
    """The claims that more blocks could decide."""
    return [each for each in decisions if each.is_open]


def _is_begun(order: Order, run: Run, view: ProgressView) -> bool:
    """Whether one more planned block is measured. After the first block, and where no further one
    is measured, a note says how many are to come."""
    coming, shortest_s = allocation.blocks_to_come(order, run), allocation.shortest_s(order, run)
    left_s = max(0.0, allocation.left_s(order, run))
    if len([each for each in run.trials.blocks() if each.finished]) == 1 or not coming:
        late_s = coming * shortest_s - left_s
        late = f", ending {late_s / 60:.1f} minutes late, as an interval needs them" * (late_s > 0)
        whole_s = allocation.whole_s(run)
        whole = f", {whole_s / 60:.1f} to measure every cell" * (whole_s > shortest_s)
        view.note(
            f"a block takes at least {shortest_s / 60:.1f} minutes{whole}, {left_s / 60:.1f} are "
            f"left: {coming or 'no'} more{late}"
        )
    return coming > 0


def _measure(wanted: BlockOrder) -> None:
    """Measure a block. Raises ChangedDuringRun where the measured programs have changed since the
    run began. A second attempt begins the block anew, such as after the load generator died;
    EnvironmentProblem where that fails too."""
    begin.require_as_begun(wanted.run, wanted.order.builds)
    wanted.view.note(f"block {wanted.block}: {wanted.seconds / 60:.1f} minutes")
    for is_last in (False, True):
        try:
            block.measure(wanted)
            return
        except EnvironmentProblem as error:
            if is_last:
                raise
            wanted.view.note(f"block {wanted.block}: second attempt: {first_line(str(error))}")
