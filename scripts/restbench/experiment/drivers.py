"""What holds of each driver that an experiment's file can name, and what its own table has to say:
no other place tells kinds of experiments by their names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from restbench.experiment.cell import Cell
from restbench.experiment.selection import Strict

Driver = Literal[
    "closed-load", "open-load", "engines", "npb", "calls", "messages", "faults", "trace"
]
View = Literal[
    "study", "limits", "factorial", "npb", "calls", "builds", "frameworks", "workers",
    "bottleneck", "trace", "messages", "faults",
]  # fmt: skip


@dataclass(frozen=True)
class Traits:
    """Of a driver, and with that of every experiment that names it."""

    table: str | None = None
    """That it needs and no other has."""
    views: tuple[View, ...] = ()
    """Of what not every driver finds; of a driver with a table they are of it alone."""
    keys: tuple[str, ...] = ()
    """Of what loads its cells next to it, and no other driver's."""
    sends_load: bool = True
    """With the load generator."""
    can_attach: bool = False
    """Whether it can measure a service that others run."""
    of_messages: tuple[bool, ...] = (False,)
    """Whether its cells are of messages: all, none, or, where both are, as the file says."""
    has_windows: bool = False
    """Whether cells can have a long window besides their trials."""
    trials_are_windows: bool = False
    """Its trials are long windows themselves."""
    knows_least: bool = False
    """How long a block takes at least is known before it."""


DRIVERS: dict[Driver, Traits] = {
    "closed-load": Traits(
        views=("bottleneck",), keys=("wrk",), can_attach=True, has_windows=True, knows_least=True
    ),
    "open-load": Traits("open", ("limits",), can_attach=True, has_windows=True),
    "npb": Traits("npb", ("npb",), sends_load=False),
    "calls": Traits("calls", ("calls",), sends_load=False),
    "engines": Traits("engines", can_attach=True, has_windows=True, trials_are_windows=True),
    "messages": Traits(None, ("messages", "bottleneck"), ("pgbench",), of_messages=(True,)),
    "faults": Traits("faults", ("faults",), sends_load=False),
    "trace": Traits("trace", ("trace",), of_messages=(True, False)),
}


@dataclass(frozen=True)
class Demand:
    """What an experiment asks of its driver."""

    cells: Sequence[Cell]
    measured: Sequence[tuple[str, Cell]]
    """Each profile's name with each of the cells that it measures."""
    mixes: Collection[str]
    """The levels of complexity that are mixes."""


class DriverTable(Strict):
    """A driver's own table; as it stands here, of one that asks for nothing."""

    def has_hosts(self) -> bool:
        """Whether services and load have hosts of their own on this machine."""
        return False

    def levels(self) -> tuple[str, ...]:
        """The levels of complexity that are the driver's own."""
        return ()

    def files(self, level: str) -> dict[str, str]:  # noqa: ARG002 - of others
        """The text of each file of what such a level sends, by name, where it is known before."""
        return {}

    def require(self, asked: Demand) -> None:
        """ValueError where the driver cannot measure that."""
