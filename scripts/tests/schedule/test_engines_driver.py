"""The order in which the cells of a load from several hosts are measured (method, rule 2)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from closed_driver import order
from fixture_run import cell
from made_blocks import block_of

from restbench.experiment.cell import Cell
from restbench.schedule.engines import EnginesDriver
from restbench.schedule.pace import TrialGroup
from restbench.store.store import Run
from restbench.store.trials import Trial

CELLS = [cell(f"java serial low {users}") for users in range(1, 11)]


def measured(folder: Path, number: int, seconds: float = 60.0) -> list[Cell]:
    """The cells of a block of so many seconds in the order of their windows."""
    here = block_of(folder, order(), [TrialGroup("all", tuple(CELLS))], number)
    load: Any = SimpleNamespace(seconds=1.0)
    return [each.cell for turn in EnginesDriver(here, load).rounds(seconds) for each in turn]


def test_rule_2_windows_are_in_a_random_order_that_differs_between_blocks(tmp_path: Path) -> None:
    orders = [measured(tmp_path, number) for number in (1, 2, 3)]
    for each in orders:
        assert sorted(each, key=lambda one: one.users) == CELLS
    assert len({tuple(each) for each in [*orders, CELLS]}) == 4
    assert measured(tmp_path, 1) == orders[0], "the same when the block is measured anew"


def test_a_window_without_time_is_said_at_its_cell_and_the_first_in_the_next_block(
    tmp_path: Path,
) -> None:
    """In a short block chance chose the cells, so one could have no window in a whole run."""
    (only,) = measured(tmp_path, 1, seconds=0.0)
    file = Run(tmp_path).trials
    assert {each.cell for each in file.events()} == {each.id for each in CELLS if each != only}
    file.add([Trial(1, 1, only.id, only.users, 0, 1.0, np.full(9, 1_000))])
    assert measured(tmp_path, 2)[-1] == only
