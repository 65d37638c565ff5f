"""How a run's time is divided: which cells a block measures, how long it is, and whether there is
time for one more (method, rules 2, 3 and 6)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from restbench.experiment.cell import Cell
from restbench.experiment.order import Order
from restbench.experiment.statistics import FEWEST_BLOCKS
from restbench.judge.claims import Decision
from restbench.schedule import windows
from restbench.schedule.pace import QUICK_S, Pace, TrialGroup, least_rounds
from restbench.store.store import Run
from restbench.store.trials import BEFORE_TRIALS_S, TrialFile

#: A block has at least this share of the duration in its profile, however long earlier blocks took.
LEAST_BLOCK_PART = 0.5
#: A planned block may be so many times as long as the last one had to be. With less, the cells that
#: have trials in any case would leave no time for the ratios that claims need. With more, a slow
#: machine would have no time for further blocks, which are shorter and measure these ratios only.
SPARE_TIMES = 1.1
#: Where open claims need the time, other quick cells are measured in at most so many blocks, and
#: cells slower than QUICK_S in as many as an interval needs (FEWEST_BLOCKS).
QUICK_BLOCKS = 5
#: Name of the block's fact with the response times in seconds, by cell id.
RESPONSE_S = "response_s"


def blocks_to_come(order: Order, run: Run) -> int:
    """How many of the planned blocks are still measured: those that end in time and can measure
    every cell, and those that an interval needs."""
    planned = order.profile.blocks
    done = sum(each.finished is not None for each in run.trials.blocks())
    block_s = max(shortest_s(order, run), whole_s(run))
    in_time = int((max(0.0, left_s(order, run)) + 1.0) / block_s)  # a second late
    return min(planned - done, max(FEWEST_BLOCKS - done, in_time))


def shortest_s(order: Order, run: Run) -> float:
    """How many seconds the next block takes at least, judged by the last one."""
    last_s = [each.least_s for each in run.trials.blocks() if each.finished][-1:]
    return max([LEAST_BLOCK_PART * order.profile.block_s, *last_s])


def whole_s(run: Run) -> float:
    """How many seconds the next block takes to measure every cell, judged by the last one; 0 where
    that is not known. In a shorter one cells that are compared would be in different blocks."""
    return next((each.whole_s for each in reversed(run.trials.blocks()) if each.finished), 0.0)


def block_seconds(order: Order, run: Run, number: int, needed: Collection[str] = ()) -> float:
    """The duration of a block. The planned blocks to come share the time that is left of the run,
    without its long windows; earlier blocks may have taken more than their share. They are at most
    as long as the profile says, or SPARE_TIMES as long as the last one had to be, or as every cell
    takes (`whole_s`), and no shorter than `shortest_s`. Blocks beyond the planned ones are as long
    as the profile says, or shorter (`_further_s`)."""
    profile, least_s = order.profile, shortest_s(order, run)
    if number > profile.blocks:
        return min(_further_s(order, run, needed), max(profile.block_s, least_s))
    share_s = left_s(order, run) / max(1, blocks_to_come(order, run))
    longest_s = SPARE_TIMES * max(least_s, whole_s(run))
    return max(least_s, min(max(profile.block_s, longest_s), share_s))


def left_s(order: Order, run: Run) -> float:
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


def groups_of(
    order: Order, run: Run | None = None, needed: Collection[str] = ()
) -> tuple[TrialGroup, ...]:
    """The experiment's groups, and one of all cells that are in none; a cell is in the first that
    selects it. Of a block of a run, without the cells that it leaves out."""
    left = list(dict.fromkeys(each.cell for each in order.plan))
    found = []
    for group in order.experiment.groups:
        cells = tuple(cell for cell in left if group.where.matches(cell))
        if cells:
            found.append(TrialGroup(group.name, cells, group.share))
        left = [cell for cell in left if cell not in cells]
    rest = [TrialGroup("rest", tuple(left), compared=not found)] * bool(left)
    if run is None or not order.experiment.traits.has_paces:
        return (*found, *rest)
    return still_measured(order, run.trials, [*found, *rest], needed)


def has_time(order: Order, run: Run, needed: Collection[str] = (), after_s: float = 0.0) -> bool:
    """Whether there is time, in `after_s` seconds, for a block beyond the planned ones."""
    return _further_s(order, run, needed) <= left_s(order, run) - after_s


def _further_s(order: Order, run: Run, needed: Collection[str]) -> float:
    """How many seconds a block beyond the planned ones takes. If it measures only what open claims
    need, its trials take as long as everything before the first trial, or longer if one second of
    each needed cell does: as blocks differ more than trials do, more blocks narrow an interval, not
    longer ones. Other blocks are as long as the last one or as the profile says."""
    last = [each for each in run.trials.blocks() if each.finished][-1:]
    before_s = last[0].facts.get(BEFORE_TRIALS_S) if last else None
    if before_s is None or not order.experiment.traits.has_paces:
        return max([order.profile.block_s, *(each.seconds or 0.0 for each in last)])
    trials_s = least_trials_s(order, run.trials, needed)
    return float(before_s) + max(float(before_s), trials_s)


def known_response_s(file: TrialFile) -> dict[str, float]:
    """By cell id: the response time in seconds, by its trials, or else by the last pilot that found
    or predicted one."""
    found: dict[str, float] = {}
    for each in file.blocks():
        found |= each.facts.get(RESPONSE_S, {})
    tried = file.tried()
    return found | {name: each for name, (_, each) in tried.items() if each < math.inf}


def enough_blocks(response_s: float, slow_s: float) -> int:
    """In how many blocks a cell is measured that no open claim needs, if claims need the time."""
    if response_s > slow_s:
        return 1
    return QUICK_BLOCKS if response_s <= QUICK_S else FEWEST_BLOCKS


def still_measured(
    order: Order, file: TrialFile, groups: Sequence[TrialGroup], needed: Collection[str]
) -> tuple[TrialGroup, ...]:
    """The groups without the cells that the next block would not measure: those known to be over
    the profile's limit, and those with enough blocks where open claims need the time for others. So
    the block neither checks these cells nor starts services for them alone. All groups where no
    cell is left: the block then says of each cell why it has no trials."""
    known, tried, profile = known_response_s(file), file.tried(), order.profile

    def is_measured(cell: Cell) -> bool:
        response_s = known.get(cell.id)
        if response_s is None or cell.id in needed:
            return True
        if response_s > profile.longest_round_s and not order.experiment.test_ids(cell):
            return False
        blocks, _ = tried.get(cell.id, (0, 0.0))
        return not needed or blocks < enough_blocks(response_s, profile.slow_round_s)

    left = [replace(each, cells=tuple(filter(is_measured, each.cells))) for each in groups]
    return tuple(each for each in left if each.cells) or tuple(groups)


def least_trials_s(order: Order, file: TrialFile, cells: Collection[str]) -> float:
    """Seconds that the trials of these cells take at least in a block, as far as the response times
    are known."""
    known, slow_s = known_response_s(file), order.profile.slow_round_s
    paces = {
        cell: Pace(known[cell.id], known[cell.id] > slow_s, cell.users)
        for cell in {each.cell for each in order.plan}
        if cell.id in cells and cell.id in known
    }
    return sum(least_rounds([cell], paces) * pace.seconds for cell, pace in paces.items())
