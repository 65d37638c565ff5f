"""The base of drivers whose trials share nothing: a round is one trial of one cell, and a block
measures every cell once, as far as there is time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from restbench.experiment.cell import Cell
from restbench.failures import first_line
from restbench.schedule.block_run import BlockRun
from restbench.schedule.pace import PlannedTrial


@dataclass
class OnceEach:
    """A Driver without `trial`, which subclasses add."""

    here: BlockRun
    _retried: set[Cell] = field(default_factory=set, init=False)

    def rounds(self, seconds: float) -> Iterator[Sequence[PlannedTrial]]:
        """Every cell once, in random order: first the cells that open claims need, then those with
        trials in the fewest blocks so far. Trials that fit into the time that is left come before
        trials that do not. A trial that begins before the block's time is over is finished. Time
        that is left at the end is used for up to two more trials of the needed cells."""
        here, ends = self.here, time.monotonic() + seconds
        tried = {cell: blocks for cell, (blocks, _) in here.file.tried().items()}
        cells, needed = here.cells, here.needed
        here.draws().shuffle(cells)
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

    def least_s(self, cell: Cell) -> float:  # noqa: ARG002 - overrides use it
        """Seconds that a trial of the cell takes at least; 0 where that is not known."""
        return 0.0

    def again(self, cell: Cell, why: str) -> str | None:
        """After a cell's first failure None: the failure is noted, and a service that has ended is
        replaced. After later failures the reason `why` (Driver)."""
        if cell in self._retried:
            return why
        self._retried.add(cell)
        self.here.note("retried", why, cell)
        self.here.view.note(f"{cell.id}: second attempt: {first_line(why)}")
        self.here.renew_if_dead(cell)
        return None
