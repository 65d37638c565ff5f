"""Runs whose blocks are made up at once instead of measured, and blocks without services."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from stub_bench import Bench

from restbench.commands import measuring
from restbench.experiment.order import Order
from restbench.schedule.block_run import BlockOrder, LoadRun
from restbench.schedule.pace import TrialGroup
from restbench.show.progress import BlockProgress
from restbench.store.store import Run
from restbench.store.trials import Trial

CLAIMS = """
title = "What this run is held against"
margin = 0.05
[[claims]]
id = "X1"
text = "Whatever comes next is faster"
reading = "Not to be tested here."
experiment = "next"
"""


class View:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def show(self, progress: BlockProgress) -> None:
        """Nobody looks."""


def order_of(tmp_path: Path, blocks: int, most: int, minutes: float = 60.0) -> Order:
    rule = {"minutes": minutes, "blocks": blocks, "blocks_max": most}
    path = Path(Bench(tmp_path).experiment({"java": ["serial", "pinned"]}, **rule))
    path.write_text(path.read_text().replace("seed = 3", 'seed = 3\nclaims = "held.toml"'))
    path.with_name("held.toml").write_text(CLAIMS)
    return measuring.order_for(str(path), "p", "", [])


def block_of(  # noqa: PLR0917 - what a block is
    folder: Path,
    order: Any,
    groups: Iterable[TrialGroup],
    number: int = 1,
    needed: Iterable[str] = (),
    up: Any = None,
    kind: Callable[..., Any] = LoadRun,
) -> Any:
    """One of three that has begun; `up` are its deployments, if it has any."""
    wanted = BlockOrder(order, Run(folder), View(), number, [*groups], 1.0, frozenset(needed), 3)
    wanted.run.trials.begin(number, "2026-11-24T01:00:00+00:00", {})
    return kind(**vars(wanted), deployments=up, load=SimpleNamespace(folder=folder))


def measured(wanted: BlockOrder) -> None:
    """A block that has a trial of each cell."""
    trials, number = wanted.run.trials, wanted.block
    trials.begin(number, "2026-11-24T01:00:00+00:00", {})
    elapsed = np.full(100, 5_000, dtype=np.int64)
    cells = dict.fromkeys(each.cell for each in wanted.order.plan)
    trials.add(Trial(number, 1, each.id, 2, 0, 1.0, elapsed) for each in cells)
    trials.finish(number, "2026-11-24T01:05:00+00:00")


def took(run: Run, number: int, minutes: int, **facts: float) -> None:
    """A finished block without trials."""
    run.trials.begin(number, "2026-11-24T01:00:00+00:00", facts)
    run.trials.finish(number, f"2026-11-24T01:{minutes:02d}:00+00:00")
