"""The seam between a block and a kind of measurement: what a block asks of what takes trials, and a
second attempt where the first said nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from restbench.drive.generator import GeneratorGone
from restbench.experiment.cell import Cell
from restbench.failures import EnvironmentProblem, StorageProblem
from restbench.schedule.block_run import BlockRun
from restbench.schedule.pace import Planned
from restbench.store.trials import Trial


class Driver(Protocol):
    """A kind of measurement in one block, with all that its first trial needs."""

    @property
    def here(self) -> BlockRun:
        """The block."""

    def rounds(self, seconds: float) -> Iterator[Sequence[Planned]]:
        """The trials of so much time in the order of measuring; those of a round are kept together.

        The next is asked for when those before have been taken, on which it may depend.
        """

    def trial(self, planned: Planned) -> Trial | None:
        """Take one. None where it is kept as a fact of the block, or where its cell is lost of it
        and why is noted (`BlockRun.lose`); EnvironmentProblem where it says nothing about the
        service."""

    def again(self, cell: Cell, why: str) -> str | None:
        """None where a trial that said nothing can be taken once more, and what that needs is done;
        else the reason for which its cell is lost."""


def take_round(driver: Driver, planned: Sequence[Planned]) -> None:
    """Take a round's trials and append them together. A wrong answer is its cell's last in this
    block."""
    here = driver.here
    taken: list[tuple[Cell, Trial]] = []
    for each in planned:
        here.progress.done += 1
        if each.cell in here.lost:
            continue
        here.progress.cell = each.cell.id
        trial = _attempted(driver, each)
        here.progress.per_s = trial.completions / trial.seconds if trial else 0.0
        here.view.show(here.progress)
        taken += [(each.cell, trial)] if trial else []
    here.file.add(trial for _, trial in taken)
    for cell, trial in taken:
        if trial.wrong:
            here.lose(cell, "wrong", f"{trial.wrong} answers were wrong in one trial")


def _attempted(driver: Driver, planned: Planned) -> Trial | None:
    """One trial; None, and the cell is lost, where it has none twice."""
    error = "no trial"
    for _attempt in range(2):
        try:
            return driver.trial(planned)
        except (StorageProblem, GeneratorGone):
            raise
        except EnvironmentProblem as problem:
            error = str(problem)
        if lack := driver.again(planned.cell, error):
            error = lack
            break
    driver.here.lose(planned.cell, "failed", error)
    return None
