"""The seam between a block and a kind of load: what a block asks of whatever sends its requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from restbench.schedule.deployments import Running
from restbench.schedule.pace import Planned
from restbench.store.trials import Trial


class Driver(Protocol):
    """A kind of load in one block, whose services are up, proven and warm."""

    def pilot(self) -> None:
        """Find out what must be known of each cell before its first trial."""

    def rounds(self, seconds: float) -> Iterator[Sequence[Planned]]:
        """The trials of so much time in the order of measuring; those of a round are kept together.

        The next is asked for when those before have been taken, on which it may depend.
        """

    def trial(self, running: Running, planned: Planned) -> Trial:
        """Take one; EnvironmentProblem where it says nothing about the service."""
