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
from restbench.schedule.pace import PlannedTrial


@dataclass
class OnceEach:
    """A Driver but for its trials."""

    here: BlockRun
    _retried: set[Cell] = field(default_factory=set, init=False)

    def rounds(self, seconds: float) -> Iterator[Sequence[PlannedTrial]]:
        """Every cell once, in random order: first those that open claims need, then those that
        had no time in the blocks before. A trial that takes longer than the time that is left lets
        those go first that do not. What begins before the block's time is over ends; time that is
        left is for what claims need, once more, where it fits."""
        here, ends = self.here, time.monotonic() + seconds
        tried = {cell: blocks for cell, (blocks, _) in here.file.tried().items()}
        cells, needed = here.cells, here.wanted.needed
        here.wanted.draws().shuffle(cells)
        cells.sort(key=lambda each: (each.id not in needed, tried.get(each.id, 0)))
        here.progress.planned = len(cells)
        is_first = True
        for number in (1, 2, 3):
            left = [each for each in cells if number == 1 or each.id in needed]
            while left:
                left_s = ends - time.monotonic()
                cell = next((each for each in left if self.least_s(each) <= left_s), left[0])
                left.remove(cell)
                fits = self.least_s(cell) <= left_s or number == 1
                if is_first or (left_s > 0 and fits):
                    yield [PlannedTrial(number, cell)]
                elif cell.id not in tried and number == 1:
                    here.lose(cell, "not-measured", "the block had no time for it")
                is_first = False

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
