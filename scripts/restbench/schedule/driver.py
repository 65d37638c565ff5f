"""The seam between a block and a kind of measurement: what a block asks of what takes trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from restbench.experiment.cell import Cell
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
