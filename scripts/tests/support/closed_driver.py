"""A driver of closed loads that has piloted its cells, whose response times are known before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from fixture_run import cell
from made_blocks import block_of

from restbench.drive.generator import CORRECT, RECORD
from restbench.experiment.cell import Cell
from restbench.schedule.closed_load import ClosedDriver
from restbench.schedule.pace import TrialGroup

FAST, MIDDLE, SLOW = (cell(f"java serial medium {users}") for users in (10, 30, 60))
ALONE = cell("java thread-per-element medium 10")
TABLE = cell("java thread-pool high 60")
#: Response times in seconds, as a pilot finds them; of other cells as of the fast one.
RESPONSES = {FAST: 0.1, MIDDLE: 1.5, SLOW: 3.0, ALONE: 20.0, TABLE: 20.0}


def order() -> Any:
    return SimpleNamespace(
        experiment=SimpleNamespace(
            seed=1,
            wrk=None,
            test_ids=lambda which: ("T",) * (which == TABLE),
            mix=lambda level: ("low", "high") if level == "mix" else (),
            size=lambda *_: None,
        ),
        profile=SimpleNamespace(slow_round_s=2.0, longest_round_s=10.0),
    )


def answers(elapsed_s: Sequence[float]) -> Any:
    """Of users that began at once."""
    records = np.zeros(len(elapsed_s), RECORD)
    records["outcome"], records["elapsed_us"] = CORRECT, np.array(elapsed_s) * 1e6
    return SimpleNamespace(records=records, seconds=1.0)


def piloted(
    path: Path,
    number: int = 1,
    claimed: Sequence[Cell] = (),
    rest: Sequence[Cell] = (),
    alone_s: Mapping[Cell, float] | None = None,
) -> tuple[Any, ClosedDriver]:
    groups = TrialGroup("claims", tuple(claimed)), TrialGroup("rest", tuple(rest), compared=False)
    cores = {False: SimpleNamespace(service=(0, 1)), True: SimpleNamespace(service=(0,))}
    up = SimpleNamespace(of=lambda of: SimpleNamespace(cores=cores[of.placement == "core0"]))
    driver = ClosedDriver(block_of(path, order(), groups, number, up=up))
    driver.here.alone_s |= alone_s or {}
    driver.pilot()
    return driver.here, driver
