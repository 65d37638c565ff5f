"""A whole run of trials: blocks until all is decided or time is up."""

from __future__ import annotations

from collections.abc import Callable

from restbench.analyse import measures
from restbench.experiment.order import Order
from restbench.experiment.records import Manifest
from restbench.failures import EnvironmentProblem, StorageProblem, in_short
from restbench.judge import study
from restbench.judge.claims import Decision
from restbench.schedule import block, resuming, windows
from restbench.schedule.begin import begin, finish, interrupted
from restbench.schedule.block_run import View, Wanted
from restbench.schedule.pace import TrialGroup
from restbench.store import calibration
from restbench.store.store import Run, point_latest_to


def execute(order: Order, run: Run, view: View) -> Manifest:
    """Measure the blocks that are not finished; returns the finished manifest.

    What is started is stopped, however this ends.
    """
    manifest = _open(order, run, view)
    try:
        groups = groups_of(order)
        for number in range(1, order.profile.most_blocks + 1):
            if number in finished_blocks(run):
                continue
            if number > order.profile.blocks and not is_wanted(order, run):
                break
            resuming.require_as_begun(run, order.build_folders)
            seconds = block_seconds(order, run, number)
            view.note(f"block {number}: {_minutes(seconds)}")
            wanted = Wanted(number, groups, seconds, needed_cells(run))
            _measure_twice(order, run, wanted, view)
            _tell_verdicts(run, view.note)
        windows.measure(order, run, view.note)
    except BaseException:
        interrupted(run, manifest)
        raise
    return finish(run, manifest, status="complete", **_measured_plan(order, run))


def _measure_twice(order: Order, run: Run, wanted: Wanted, view: View) -> None:
    """A block has a second attempt, from its begin: where the load generator died, or no service
    came up. EnvironmentProblem where that ends no better."""
    try:
        block.measure(order, run, wanted, view)
    except StorageProblem:
        raise
    except EnvironmentProblem as error:
        view.note(f"block {wanted.block}: once more: {in_short(str(error))}")
        block.measure(order, run, wanted, view)


def _open(order: Order, run: Run, view: View) -> Manifest:
    """Begin the run, or go on with one that ended too early."""
    if run.manifest_file.exists():
        manifest = resuming.go_on(order, run, view.note)
    else:
        manifest = begin(order, run)
        calibration.adopt(run, view.note)
    point_latest_to(run)
    return manifest


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


def finished_blocks(run: Run) -> set[int]:
    """The blocks that are measured to their end."""
    return {each.block for each in run.trials.blocks() if each.finished}


def block_seconds(order: Order, run: Run, number: int) -> float:
    """How long a block is: the planned ones share the run's time, less its long windows' and what
    those before have taken, which can be more than they were given; later ones are all alike."""
    profile = order.profile
    if number > profile.blocks:
        return profile.block_s
    planned_s = _left_s(order, run) / (profile.blocks - number + 1)
    return min(profile.block_s, max(LEAST_BLOCK_PART * profile.block_s, planned_s))


#: However long those before have taken, a block has so much of what it was to have.
LEAST_BLOCK_PART = 0.5


def _left_s(order: Order, run: Run) -> float:
    """Of the run's time, without its finished blocks' and what its long windows still take."""
    taken_s = sum(each.seconds or 0.0 for each in run.trials.blocks())
    return 60 * order.profile.minutes - taken_s - windows.seconds(order, run)


def is_wanted(order: Order, run: Run) -> bool:
    """Whether a block beyond the planned ones is measured: there is time for one like the last, and
    a claim that more blocks could decide is not decided (rule 6). Looked at only at a block's end.
    """
    last_s = [each.seconds or 0.0 for each in run.trials.blocks()][-1:]
    has_time = max(order.profile.block_s, *last_s) <= _left_s(order, run)
    return has_time and bool(undecided(run))


def undecided(run: Run) -> list[Decision]:
    """The claims that more blocks could decide."""
    return [each for each in _decisions(run) if each.verdict == "too-imprecise"]


def needed_cells(run: Run) -> frozenset[str]:
    """The ids of the cells that undecided claims need more trials of: the next block gives them the
    time. Empty before cells have intervals, and where all is decided."""
    if len(finished_blocks(run)) < measures.FEWEST_BLOCKS:
        return frozenset()
    found: set[str] = set()
    for each in undecided(run):
        open_parts = [part for part in each.parts if part.verdict == "too-imprecise"]
        found |= {cell for part in open_parts or each.parts for cell in part.cells}
    return frozenset(found)


def _decisions(run: Run) -> list[Decision]:
    return study.decisions(run, measures.rows(run))


def _tell_verdicts(run: Run, note: Callable[[str], None]) -> None:
    """Each claim's verdict so far; those that no cell of the run decides are one line."""
    decisions = _decisions(run)
    for each in decisions:
        if each.verdict != "not-measured":
            note(f"  {each.id:14} {each.headline}")
    if absent := [each.id for each in decisions if each.verdict == "not-measured"]:
        note(f"  not measured   {', '.join(absent)}")


def _measured_plan(order: Order, run: Run) -> dict[str, object]:
    """What the stop rule has made of the plan: the blocks that were measured."""
    last = max(finished_blocks(run), default=0)
    return {"plan": tuple(each for each in order.plan if each.block <= last)}


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes"
