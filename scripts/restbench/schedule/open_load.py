"""The driver of open loads: requests at the moments of a schedule, at one rate after another, in
search of the highest rate that meets the objective. The searches ("walks") of a block's cells are
interleaved: each cell whose walk is not over takes one step, in random order, and so on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from restbench.analyse import limits
from restbench.drive.generator import CORRECT, WRONG
from restbench.experiment import open_load
from restbench.experiment.cell import Cell
from restbench.experiment.open_load import OpenLoad, Rates
from restbench.failures import EnvironmentProblem
from restbench.schedule.block_run import LoadRun
from restbench.schedule.pace import PlannedTrial
from restbench.schedule.preparation import renewed, short_load
from restbench.schedule.reduction import loaded, of_arrivals
from restbench.store.trials import Trial
from restbench.store.writing import write_text


@dataclass
class _Walk:
    """The search for the highest rate of one cell in this block."""

    start_per_s: float
    rates: Rates
    tried: dict[float, bool] = field(default_factory=dict)
    """The rates so far, each with whether it met the objective."""

    @property
    def rate_per_s(self) -> float | None:
        """The rate of the next step, per second; None when the walk is over."""
        return open_load.next_rate(self.tried, self.start_per_s, self.rates)


class OpenDriver:
    """Open loads in one block (Driver)."""

    def __init__(self, here: LoadRun) -> None:
        """The block's experiment must have a table [open]."""
        self.here = here
        self._load = here.order.experiment.table(OpenLoad)
        self._walks: dict[Cell, _Walk] = {}
        self._shuffler = here.draws()

    def pilot(self) -> None:
        """Set the rate at which each cell's walk starts: near the cell's limit in earlier blocks,
        with a random offset, so that blocks differ in their rates; without a known limit at a share
        of a closed load's throughput."""
        steps = [limits.step(each, self._load.objective) for each in self.here.file.trials()]
        for known in limits.limits(self.here.cells, steps, {}):
            cell, limit_per_s = known.cell, known.limit_per_s
            self.here.at(cell.id)
            if limit_per_s:
                part = self._shuffler.random() - 0.5
                start_per_s = limit_per_s * (1 + self._load.rates.resolution) ** part
            elif closed_per_s := self._closed_per_s(cell):
                start_per_s = closed_per_s * self._load.pilot.start_share
            else:
                continue
            self._walks[cell] = _Walk(start_per_s, self._load.rates_from(limit_per_s))

    def rounds(self, seconds: float) -> Iterator[Sequence[PlannedTrial]]:
        """One step at a time. A step that would not end in time is left out, and ends its walk."""
        ends, number = time.monotonic() + seconds, 0
        while going_on := self._going_on():
            number += 1
            self._shuffler.shuffle(going_on)
            for cell in going_on:
                rate = self._walks[cell].rate_per_s
                if rate and time.monotonic() + self._load.phases(rate).seconds > ends:
                    del self._walks[cell]
                    self.here.view.note(f"      {cell.id}  no time for {rate:g}/s")
                    continue
                yield [PlannedTrial(number, cell)]

    def trial(self, planned: PlannedTrial) -> Trial:
        """Offer the next rate of a cell's walk once. Raises EnvironmentProblem where the service
        ended meanwhile or gave no correct answer: neither shows a limit."""
        here, cell, going_on = self.here, planned.cell, self._walks[planned.cell]
        rate = going_on.rate_per_s
        if rate is None:
            raise EnvironmentProblem(f"{cell.id}: its search for the highest rate is over")
        phases = self._load.phases(rate)
        seed = (here.order.experiment.seed, here.block, planned.round, round(1000 * rate))
        offsets = open_load.schedule(self._load.arrivals, rate, phases, seed)
        file = here.load.folder / "arrivals.txt"
        write_text(file, open_load.as_text(offsets))
        sent, ended = loaded(here, planned, phases.warmup_s, phases.window_s, file)
        wrong = bool((sent.records["outcome"] == WRONG).any())
        if not wrong and not (sent.records["outcome"] == CORRECT).any():
            raise EnvironmentProblem(sent.first_error or "no correct answer in a whole trial")
        elapsed_us, found = of_arrivals(sent.records, offsets, phases, limits.LATE_MS)
        errors = int(found.pop("errors"))
        extras = {
            **found,
            "rate_per_s": rate,
            "achieved_per_s": round(ended.completions / ended.seconds, 1),
        }
        trial = replace(ended, elapsed_us=elapsed_us, errors=errors, extras=extras)
        step = limits.step(trial, self._load.objective)
        going_on.tried[rate] = step.met
        line = limits.progress_line(step, self._load.objective.percentile)
        here.view.note(f"      {cell.id}  {line}")
        return trial

    def again(self, cell: Cell, why: str) -> str | None:  # noqa: ARG002 - the same for any reason
        """Repeat on the same service, or on a fresh one where it has ended (Driver)."""
        return renewed(self.here, cell)

    def _going_on(self) -> list[Cell]:
        return [
            cell
            for cell, each in self._walks.items()
            if cell not in self.here.lost and each.rate_per_s is not None
        ]

    def _closed_per_s(self, cell: Cell) -> float | None:
        """Correct responses per second of a short closed load; None, and the cell is lost, where
        there was none."""
        pilot = self._load.pilot
        sent = short_load(self.here, cell, min(pilot.users, cell.users), pilot.seconds)
        if sent is None:
            return None
        ends_us = sent.records["start_us"] + sent.records["elapsed_us"]
        return float((sent.records["outcome"] == CORRECT).sum() / ends_us.max() * 1e6)
