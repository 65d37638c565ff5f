"""Faults as levels of complexity, and the table [faults] of an experiment of them.

`kill-all` is a load of requests with keys during which every process of the database is killed;
`kill-all-without-keys` the same without.
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
    """What is done to whom while requests are made."""

    fault: Fault
    have_keys: bool


def work_of(level: str) -> FaultWork:
    """The fault of a level; ValueError where it is none."""
    fault = level.removesuffix(WITHOUT_KEYS)
    if fault not in FAULTS:
        raise ValueError(
            f"'{level}' is no fault, such as {FAULTS[0]}; a name may end with {WITHOUT_KEYS}"
        )
    return FaultWork(fault, have_keys=fault == level)


class Faults(DriverTable):
    """The table [faults]."""

    technique: str = "skip-locked"
    """Of the queues."""
    queues: Positive = 4
    receivers: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] = (0,)
    """To each of which messages are sent, in every queue; 0 is nobody in particular."""
    characters: Annotated[int, Field(ge=64)] = 200
    filled: Annotated[int, Field(ge=0)] = 10
    """Messages that each client sends before its first pop."""
    earliest_s: Above0 = 1.0
    latest_s: Above0 = 3.0
    """The fault comes at a random moment between these of the load."""
    down_s: Above0 = 2.0
    """From what was killed or filled to its repair."""
    pause_s: Above0 = 5.0
    after_s: Annotated[float, Field(ge=6)] = 7.0
    """The load goes on so long after the repair."""

    def levels(self) -> tuple[str, ...]:
        """Every level there is."""
        return (*FAULTS, *(f"{each}{WITHOUT_KEYS}" for each in FAULTS))

    def lasts_s(self, fault: Fault) -> float:
        """From the fault to its end, where the harness ends it."""
        return self.pause_s if fault == "pause" else self.down_s
