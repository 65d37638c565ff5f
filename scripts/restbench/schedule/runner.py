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
from restbench.schedule import begin, block, windows
from restbench.schedule.block_run import BlockOrder, View
from restbench.schedule.pace import TrialGroup
from restbench.store import store
from restbench.store.store import Run

#: A block has at least this share of the duration in its profile, however long earlier blocks took.
LEAST_BLOCK_PART = 0.5
#: A planned block may be so many times as long as the last one had to be. With less, the cells that
#: have trials in any case would leave no time for the ratios that claims need.
SPARE_TIMES = 1.5


def execute(order: Order, run: Run, view: View) -> Manifest:
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
            if number > order.profile.blocks:
                if not (waiting and has_time(order, run)):
                    break
            elif finished and not _is_begun(order, run, view):
                break
            seconds = block_seconds(order, run, number)
            in_time = len(finished) + max(1, blocks_to_come(order, run))
            _measure(
                BlockOrder(
                    order,
                    run,
                    view,
                    number,
                    groups_of(order),
                    seconds,
                    needed=needed_cells(waiting, is_early=len(finished) < FEWEST_BLOCKS),
                    last=min(order.profile.blocks, in_time),
                    is_followed=len(to_come) > 1 and has_time(order, run, after_s=seconds),
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


def _note_verdicts(decisions: Sequence[Decision], view: View) -> None:
    """Show the verdict of each claim so far; claims that are not measured share one line."""
    for each in decisions:
        if each.verdict != "not-measured":
            view.note(f"  {each.id:14} {each.headline}")
    if absent := [each.id for each in decisions if each.verdict == "not-measured"]:
        view.note(f"  not measured   {', '.join(absent)}")


def undecided(decisions: Sequence[Decision]) -> list[Decision]:
    """The claims that more blocks could decide."""
    return [each for each in decisions if each.is_open]


def has_time(order: Order, run: Run, after_s: float = 0.0) -> bool:
    """Whether there is time, in `after_s` seconds, for a block like the last beyond the planned
    ones."""
    last_s = [each.seconds or 0.0 for each in run.trials.blocks() if each.finished][-1:]
    return max([order.profile.block_s, *last_s]) <= _left_s(order, run) - after_s


def _is_begun(order: Order, run: Run, view: View) -> bool:
    """Whether one more planned block is measured. After the first block, and where no further one
    is measured, a note says how many are to come."""
    coming, shortest_s = blocks_to_come(order, run), _shortest_s(order, run)
    left_s = max(0.0, _left_s(order, run))
    if len([each for each in run.trials.blocks() if each.finished]) == 1 or not coming:
        late_s = coming * shortest_s - left_s
        late = f", ending {late_s / 60:.1f} minutes late, as an interval needs them" * (late_s > 0)
        view.note(
            f"a block takes at least {shortest_s / 60:.1f} minutes, {left_s / 60:.1f} are left: "
            f"{coming or 'no'} more{late}"
        )
    return coming > 0


def blocks_to_come(order: Order, run: Run) -> int:
    """How many of the planned blocks are still measured: those that end in time, and those that an
    interval needs."""
    planned = order.profile.blocks
    done = sum(each.finished is not None for each in run.trials.blocks())
    left_s = max(0.0, _left_s(order, run)) + 1.0  # a tolerance of a second
    in_time = int(left_s / _shortest_s(order, run))
    return min(planned - done, max(FEWEST_BLOCKS - done, in_time))


def _shortest_s(order: Order, run: Run) -> float:
    """How many seconds the next block takes at least, judged by the last one."""
    last_s = [each.least_s for each in run.trials.blocks() if each.finished][-1:]
    return max([LEAST_BLOCK_PART * order.profile.block_s, *last_s])


def block_seconds(order: Order, run: Run, number: int) -> float:
    """The duration of a block. The planned blocks to come share the time that is left of the run,
    without its long windows; earlier blocks may have taken more than their share. They are at most
    as long as the profile says, or SPARE_TIMES as long as the last one had to be. Blocks beyond the
    planned ones are as long as the profile says. No block is shorter than `_shortest_s`."""
    profile, shortest_s = order.profile, _shortest_s(order, run)
    if number > profile.blocks:
        return max(profile.block_s, shortest_s)
    share_s = _left_s(order, run) / max(1, blocks_to_come(order, run))
    return max(shortest_s, min(max(profile.block_s, SPARE_TIMES * shortest_s), share_s))


def _left_s(order: Order, run: Run) -> float:
    """Seconds of the run's time that are left, without the long windows that are still missing."""
    taken_s = sum(each.seconds or 0.0 for each in run.trials.blocks())
    return 60 * order.profile.minutes - taken_s - windows.seconds(order, run)


def needed_cells(decisions: Sequence[Decision], *, is_early: bool = False) -> frozenset[str]:
    """The ids of the cells that open claims need more trials of: the next block gives them the
    time. Early, before the run has the blocks of a verdict, these are the cells of the parts that
    are near one, without the claims of which a part fails by far (`PartDecision.prospect`)."""
    found: set[str] = set()
    for each in decisions:
        wanted = [part for part in each.parts if part.is_open and part.decides]
        if is_early:
            fails = any(part.prospect == "fails" for part in wanted)
            wanted = [part for part in wanted if part.prospect == "near" and not fails]
        found |= {cell for part in wanted for cell in part.cells}
    return frozenset(found)


def groups_of(order: Order) -> tuple[TrialGroup, ...]:
    """The experiment's groups, and one of all cells that are in none; a cell is in the first that
    selects it."""
    left = list(dict.fromkeys(each.cell for each in order.plan))
    found = []
    for group in order.experiment.groups:
        cells = tuple(cell for cell in left if group.where.matches(cell))
        if cells:
            found.append(TrialGroup(group.name, cells, group.share))
        left = [cell for cell in left if cell not in cells]
    rest = TrialGroup("rest", tuple(left), compared=not found)
    return (*found, *([rest] if left else []))


def _measure(wanted: BlockOrder) -> None:
    """Measure a block. Raises ChangedDuringRun where the measured programs have changed since the
    run began. A second attempt begins the block anew, such as after the load generator died;
    EnvironmentProblem where that fails too."""
    begin.require_as_begun(wanted.run, wanted.order.build_folders)
    wanted.view.note(f"block {wanted.block}: {wanted.seconds / 60:.1f} minutes")
    for is_last in (False, True):
        try:
            block.measure(wanted)
            return
        except EnvironmentProblem as error:
            if is_last:
                raise
            wanted.view.note(f"block {wanted.block}: second attempt: {first_line(str(error))}")
