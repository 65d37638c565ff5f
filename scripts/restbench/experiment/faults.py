"""Faults as levels of complexity, and the table [faults] of an experiment of them.

`kill-all` is a load of requests with keys during which every process of the database is killed;
`kill-all-without-keys` is the same with requests without keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from pydantic import Field

from restbench.experiment.drivers import DriverTable
from restbench.experiment.selection import Above0, Positive

Fault = Literal[
    "kill-backend",
    "kill-postmaster",
    "kill-all",
    "stop-fast",
    "pause",
    "hold-snapshot",
    "kill-service",
    "disk-full",
]
FAULTS: tuple[Fault, ...] = get_args(Fault)
WITHOUT_KEYS = "-without-keys"


@dataclass(frozen=True)
class FaultWork:
    """A fault during a load, and whether the load's requests have keys."""

    fault: Fault
    have_keys: bool


def work_of(level: str) -> FaultWork:
    """The fault of a level. Raises ValueError where the level is not a fault."""
    fault = level.removesuffix(WITHOUT_KEYS)
    if fault not in FAULTS:
        raise ValueError(
            f"'{level}' is no fault, such as {FAULTS[0]}; a name may end with {WITHOUT_KEYS}"
        )
    return FaultWork(fault, have_keys=fault == level)


class Faults(DriverTable):
    """The table [faults]."""

    technique: str = "skip-locked"
    queues: Positive = 4
    receivers: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] = (0,)
    """The receivers to which messages are sent in every queue; 0: no particular receiver."""
    characters: Annotated[int, Field(ge=64)] = 200
    filled: Annotated[int, Field(ge=0)] = 10
    """Messages that each client sends before its first pop."""
    earliest_s: Above0 = 1.0
    latest_s: Above0 = 3.0
    """The fault comes at a random moment of the load, between `earliest_s` and this."""
    down_s: Above0 = 2.0
    """Seconds from the fault to its repair, except for `pause`."""
    pause_s: Above0 = 5.0
    after_s: Annotated[float, Field(ge=6)] = 7.0
    """The load goes on so long after the repair."""

    def levels(self) -> tuple[str, ...]:
        """Every level: each fault, with and without keys."""
        return (*FAULTS, *(f"{each}{WITHOUT_KEYS}" for each in FAULTS))

    def lasts_s(self, fault: Fault) -> float:
        """Seconds from a fault to its end, for faults that the harness ends."""
        return self.pause_s if fault == "pause" else self.down_s
