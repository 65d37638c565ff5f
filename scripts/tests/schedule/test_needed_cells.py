"""Which cells get the time of the next block: those that open claims need."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from made_blocks import View, measured, order_of

from restbench.schedule import block, runner
from restbench.schedule.block_run import BlockOrder
from restbench.store.store import Run

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
    assert runner.needed_cells(of, is_early=True) == frozenset()
    assert runner.needed_cells(of) == {"a", "b", "f"}
