"""The order in which the cells of a load from several hosts are measured (method, rule 2)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from closed_driver import order
from fixture_run import cell
from made_blocks import block_of

from restbench.experiment.cell import Cell
from restbench.schedule.engines import EnginesDriver
from restbench.schedule.pace import TrialGroup

CELLS = [cell(f"java serial low {users}") for users in range(1, 11)]


def measured(folder: Path, number: int, window_s: float = 1.0) -> list[Cell]:
    """The cells of a block in the order of their windows; the block has 60 s."""
    here = block_of(folder, order(), [TrialGroup("all", tuple(CELLS))], number)
    load: Any = SimpleNamespace(seconds=window_s)
    return [each.cell for turn in EnginesDriver(here, load).rounds(60.0) for each in turn]


def test_rule_2_windows_are_in_a_random_order_that_differs_between_blocks(tmp_path: Path) -> None:
    orders = [measured(tmp_path, number) for number in (1, 2, 3)]
    for each in orders:
        assert sorted(each, key=lambda one: one.users) == CELLS
    assert len({tuple(each) for each in [*orders, CELLS]}) == 4
    assert measured(tmp_path, 1) == orders[0], "the same when the block is measured anew"


def test_only_the_first_window_may_end_after_the_block(tmp_path: Path) -> None:
    assert measured(tmp_path, 1, 61.0) == measured(tmp_path, 1)[:1]
