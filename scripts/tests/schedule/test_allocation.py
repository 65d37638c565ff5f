"""Which cells the next block measures, and how long it is: open claims decide both."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fixture_run import cell
from made_blocks import View, measured, order_of, took

from restbench.commands import measuring
from restbench.experiment.cell import Cell
from restbench.experiment.order import Order
from restbench.experiment.records import PlannedCell
from restbench.schedule import allocation, block, runner, windows
from restbench.schedule.allocation import RESPONSE_S
from restbench.schedule.block_run import BlockOrder
from restbench.schedule.pace import Pace
from restbench.store.store import Run
from restbench.store.trials import BEFORE_TRIALS_S, MISSING_S, SPARE_S, Trial

pytestmark = pytest.mark.usefixtures("known_machine")
#: A claim that needs more blocks, with parts of each kind.
UNDECIDED = SimpleNamespace(
    parts=(
        SimpleNamespace(is_open=True, decides=True, prospect="near", cells=("a", "b")),
        SimpleNamespace(is_open=False, decides=True, prospect="near", cells=("c",)),
        SimpleNamespace(is_open=True, decides=True, prospect="holds", cells=("d",)),
        SimpleNamespace(is_open=True, decides=False, prospect="near", cells=("e",)),
    )
)


def test_after_a_block_the_time_is_for_cells_of_undecided_parts_and_early_for_those_near_a_verdict(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the reference run of 2026-11-30 cells of claims that took 90 minutes to decide had one
    second of each of the first blocks: parts far from any verdict had as much time."""
    needed, followed = [], []

    def measure(wanted: BlockOrder) -> None:
        needed.append(wanted.needed)
        followed.append(wanted.is_followed)
        measured(wanted)

    monkeypatch.setattr(block, "measure", measure)
    monkeypatch.setattr(runner, "undecided", lambda _decisions: [UNDECIDED])
    order = order_of(tmp_path, 2, 5)
    order = replace(order, profile=order.profile.model_copy(update={"block_minutes": 5.0}))
    runner.execute(order, run, View())
    assert needed == [{"a", "b"}] * 3 + [{"a", "b", "d"}] * 2
    assert followed == [True] * 4 + [False]


def test_a_part_that_fails_by_far_settles_its_claim_early_and_no_part_of_it_needs_time() -> None:
    (near, *_) = UNDECIDED.parts
    fails = SimpleNamespace(is_open=True, decides=True, prospect="fails", cells=("f",))
    of: Any = [SimpleNamespace(parts=(near, fails))]
    assert allocation.needed_cells(of, is_early=True) == frozenset()
    assert allocation.needed_cells(of) == {"a", "b", "f"}


QUICK, NEEDED, MIDDLE, SLOW, IN_TABLES, TOO_SLOW = (
    cell(each)
    for each in (
        "java serial low 10",
        "java serial low 60",
        "java serial rows-200 10",
        "java thread-per-element low 60",
        "java pinned high 60",
        "python process-per-element rows-600 60",
    )
)
#: In seconds. What takes more than 2 s is slow; what is in no table may take 10 s.
RESPONSES = {QUICK: 0.01, NEEDED: 0.01, MIDDLE: 0.5, SLOW: 3.0, IN_TABLES: 20.0, TOO_SLOW: 30.0}
BEFORE_S = 70.0


def long_run(folder: Path, blocks: int) -> tuple[Order, Run]:
    """An order for an hour, and its run after so many blocks of 6 minutes: all of them measured the
    quicker cells, the last one the slow ones, none the one over the limit."""
    order, run = measuring.order_for("thesis", "quick", "", [], 60.0), Run(folder)
    folder.mkdir(exist_ok=True)
    limits = {"slow_round_s": 2.0, "longest_round_s": 10.0}
    plan = [PlannedCell(cell=each, block=1, order=1, test_ids=()) for each in RESPONSES]
    known = {each.id: response_s for each, response_s in RESPONSES.items()}
    for number in range(1, blocks + 1):
        facts = {RESPONSE_S: known, BEFORE_TRIALS_S: BEFORE_S}
        run.trials.begin(number, "2026-11-24T01:00:00+00:00", facts)
        for each, response_s in RESPONSES.items():
            if each is not TOO_SLOW and (response_s < 2 or number == blocks):
                elapsed_us = np.full(each.users, int(1e6 * response_s))
                run.trials.add([Trial(number, 1, each.id, each.users, 0, response_s, elapsed_us)])
        run.trials.finish(number, "2026-11-24T01:06:00+00:00")
    profile = order.profile.model_copy(update=limits)
    return replace(order, plan=tuple(plan), profile=profile), run


@pytest.mark.parametrize(
    ("blocks", "enough"),
    [(1, {SLOW, IN_TABLES}), (3, {SLOW, IN_TABLES, MIDDLE}), (5, {SLOW, IN_TABLES, MIDDLE, QUICK})],
)
def test_a_block_leaves_out_what_is_too_slow_and_where_claims_need_the_time_what_has_enough(
    tmp_path: Path, blocks: int, enough: set[Cell]
) -> None:
    """Blocks asked such cells for an answer, which took two minutes on a slow machine."""
    order, run = long_run(tmp_path, blocks)

    def measured_for(needed: Collection[str]) -> set[Cell]:
        return {each for of in allocation.groups_of(order, run, needed) for each in of.cells}

    allowed = set(RESPONSES) - {TOO_SLOW}
    assert measured_for(()) == allowed
    assert measured_for({NEEDED.id}) == allowed - enough
    assert measured_for({SLOW.id, TOO_SLOW.id}) >= {SLOW, TOO_SLOW}


def test_a_block_of_which_every_cell_is_too_slow_leaves_none_out(tmp_path: Path) -> None:
    """A load generator for no cell at all would have no users."""
    order, run = long_run(tmp_path, 1)
    plan = tuple(each for each in order.plan if each.cell == TOO_SLOW)
    (group,) = allocation.groups_of(replace(order, plan=plan), run)
    assert group.cells == (TOO_SLOW,)


def test_a_further_block_lasts_for_its_start_and_for_what_claims_need(tmp_path: Path) -> None:
    order, run = long_run(tmp_path, 5)
    quick, slow = {NEEDED.id}, {IN_TABLES.id, TOO_SLOW.id}
    assert allocation.block_seconds(order, run, 6, quick) == 2 * BEFORE_S
    paces = [Pace(RESPONSES[each], is_single_trial=True) for each in (IN_TABLES, TOO_SLOW)]
    trials_s = sum(each.seconds for each in paces)
    assert trials_s > BEFORE_S
    assert allocation.block_seconds(order, run, 6, slow) == BEFORE_S + trials_s
    left_s = 60 * 60 - 5 * 360 - windows.seconds(order, run)
    assert allocation.has_time(order, run, quick, after_s=left_s - 2 * BEFORE_S)
    assert not allocation.has_time(order, run, quick, after_s=left_s - 2 * BEFORE_S + 1)
    assert not allocation.has_time(order, run, slow, after_s=left_s - 2 * BEFORE_S)


def test_blocks_share_what_time_the_ones_before_have_left(tmp_path: Path, run: Run) -> None:
    order = order_of(tmp_path, 4, 5, minutes=40)
    assert allocation.block_seconds(order, run, 1) == 600
    took(run, 1, minutes=16)
    assert allocation.block_seconds(order, run, 2) == (2400 - 960) / 3
    took(run, 2, minutes=23)
    assert allocation.block_seconds(order, run, 3) == 300, "half of what it was to have"
    assert allocation.block_seconds(order, run, 5) == 600


def test_no_block_is_said_to_be_shorter_than_it_can_be(tmp_path: Path, run: Run) -> None:
    order = order_of(tmp_path, 5, 5, minutes=60)
    took(run, 1, minutes=23, **{SPARE_S: 60.0})
    assert allocation.block_seconds(order, run, 2) == 22 * 60


def test_a_block_of_single_trials_is_so_long_that_it_measures_every_cell(
    tmp_path: Path, run: Run
) -> None:
    """Otherwise two cells that are compared would have their trials in different blocks."""
    order = order_of(tmp_path, 5, 5, minutes=60)
    took(run, 1, minutes=12, **{SPARE_S: 700.0, MISSING_S: 180.0})
    assert allocation.block_seconds(order, run, 2) == 48 * 60 / 3
    took(run, 2, minutes=16, **{SPARE_S: 900.0, MISSING_S: -60.0})
    assert allocation.block_seconds(order, run, 3) == 32 * 60 / 2
    took(run, 3, minutes=1, **{SPARE_S: 0.0, MISSING_S: 3600.0})
    assert allocation.block_seconds(order, run, 4) == 31 * 60, "not longer than the run"


def test_a_planned_block_leaves_time_beyond_what_the_last_one_had_to_take(
    tmp_path: Path, run: Run
) -> None:
    """As in a run of an hour: cells that have trials in any case filled the blocks of 400 s."""
    order = order_of(tmp_path, 5, 9, minutes=60)
    order = replace(order, profile=order.profile.model_copy(update={"block_minutes": 6.0}))
    assert allocation.block_seconds(order, run, 1) == 360
    took(run, 1, minutes=10, **{SPARE_S: 0.0})
    assert allocation.block_seconds(order, run, 2) == pytest.approx(1.1 * 600)
    took(run, 2, minutes=6, **{SPARE_S: 0.0})
    assert allocation.block_seconds(order, run, 3) == pytest.approx(1.1 * 360)
    assert allocation.block_seconds(order, run, 6) == 360
