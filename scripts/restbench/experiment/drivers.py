"""The properties of each driver that an experiment file can name, and the base of a driver's own
table. Other code asks for these properties and does not compare drivers' names."""

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
    """The properties of a driver, and so of every experiment that names it."""

    table: str | None = None
    """The name of the table that the driver needs, and that no other driver may have."""
    views: tuple[View, ...] = ()
    """The views of results that not every driver has."""
    keys: tuple[str, ...] = ()
    """The keys of further load tools that load this driver's cells, and no other driver's."""
    sends_load: bool = True
    """Whether the load generator sends its load."""
    can_attach: bool = False
    """Whether it can measure a service that others run."""
    of_messages: tuple[bool, ...] = (False,)
    """Whether its cells are of messages; with both values the experiment file decides."""
    has_windows: bool = False
    """Whether cells can have a long window in addition to their trials."""
    trials_are_windows: bool = False
    """Whether its trials are long windows themselves."""
    has_paces: bool = False
    """Whether trials are as long as response times ask for. The least duration of a block is known
    before the run then, and a block leaves out cells that have enough, if claims need the time."""


DRIVERS: dict[Driver, Traits] = {
    "closed-load": Traits(
        None, ("bottleneck",), ("wrk",), can_attach=True, has_windows=True, has_paces=True
    ),
    "open-load": Traits("open", ("limits",), can_attach=True, has_windows=True),
    "npb": Traits("npb", ("npb",), sends_load=False),
    "calls": Traits("calls", ("calls",), sends_load=False),
    "engines": Traits("engines", can_attach=True, has_windows=True, trials_are_windows=True),
    "messages": Traits(
        None, ("messages", "bottleneck"), ("pgbench", "pgbench_at_rate"), of_messages=(True,)
    ),
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


class DriverTable(Strict):
    """The base of a driver's own table; as it is, that of a driver without requirements."""

    def has_hosts(self) -> bool:
        """Whether services and load run in network namespaces of their own on this machine."""
        return False

    def levels(self) -> tuple[str, ...]:
        """The levels of complexity that are the driver's own."""
        return ()

    def files(self, level: str) -> dict[str, str]:  # noqa: ARG002 - overrides use it
        """By file name: the texts that requests of a level send, if they are known beforehand."""
        return {}

    def require(self, asked: Demand) -> None:
        """Raises ValueError where the driver cannot measure what is asked."""
