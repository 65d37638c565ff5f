"""What drivers have in common whose trials share nothing: rounds of one cell each, every cell once
a block."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from restbench.experiment.cell import Cell
from restbench.failures import in_short
from restbench.schedule.block_run import BlockRun
from restbench.schedule.deployments import Deployments
from restbench.schedule.pace import Planned


@dataclass
class OnceEach:
    """A Driver but for its trials."""

    here: BlockRun
    _retried: set[Cell] = field(default_factory=set, init=False)

    def rounds(self, seconds: float) -> Iterator[Sequence[Planned]]:
        """Every cell once, in random order: first those that open claims need, then those that
        had no time in the blocks before, and last those whose trial is longer than a block. What
        begins before the block's time is over ends; time that is left is for what claims need,
        once more."""
        here, ends = self.here, time.monotonic() + seconds
        tried = {cell: blocks for cell, (blocks, _) in here.file.tried().items()}
        cells, needed = here.cells, here.wanted.needed
        here.wanted.draws().shuffle(cells)
        cells.sort(
            key=lambda each: (
                each.id not in needed,
                tried.get(each.id, 0),
                self.least_s(each) > seconds,
            )
        )
        here.progress.planned = len(cells)
        again = [(number, cell) for number in (2, 3) for cell in cells if cell.id in needed]
        for number, cell in (*((1, cell) for cell in cells), *again):
            if (number, cell) == (1, cells[0]) or time.monotonic() < ends:
                yield [Planned(number, cell)]
            elif cell.id not in tried and number == 1:
                here.lose(cell, "not-measured", "the block had no time for it")

    def least_s(self, cell: Cell) -> float:  # noqa: ARG002 - where trials differ, it says by what
        """The time that a trial of the cell takes at least, where that is known."""
        return 0.0

    def again(self, cell: Cell, why: str) -> str | None:
        """None the first time that a cell's trial said nothing, which is noted, and a service that
        has ended is started anew; else the reason."""
        if cell in self._retried:
            return why
        self._retried.add(cell)
        self.here.note("retried", why, cell)
        self.here.view.note(f"{cell.id}: once more: {in_short(why)}")
        self.renew_if_dead(self.here.deployments, cell)
        return None

    def renew_if_dead(self, deployments: Deployments, cell: Cell) -> None:
        """Have a fresh service in the place of one that has ended."""
        running = deployments.of(cell)
        if running is not None and not running.service.alive():
            self.here.note("restarted", running.service.ending(), cell)
            deployments.renew(cell)
