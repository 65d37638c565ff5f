"""Which cores a service and the load generator may use: the placement factor, made concrete."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

Placement = Literal["unbound", "core0"]

#: From this many cores on, the load generator gets cores of its own.
CORES_FOR_OWN_LOAD_CORES = 4


@dataclass(frozen=True)
class Cores:
    """The affinity masks of both sides, as sorted core numbers."""

    service: tuple[int, ...]
    load: tuple[int, ...]

    @property
    def shared(self) -> bool:
        """Whether the load generator competes with the service for a core."""
        return not set(self.service).isdisjoint(self.load)


def allowed_cores() -> tuple[int, ...]:
    """The cores this process may use (cpuset and taskset respected), sorted."""
    return tuple(sorted(os.sched_getaffinity(0)))


def place(placement: Placement, allowed: tuple[int, ...]) -> Cores:
    """The cores of both sides under a placement.

    With four cores or more the load generator gets the last quarter for itself; with fewer both
    use all of them, and the run says so. `core0` binds the service to the lowest allowed core,
    as the study's `taskset -cp 0` did.
    """
    if len(allowed) >= CORES_FOR_OWN_LOAD_CORES:
        own = len(allowed) // CORES_FOR_OWN_LOAD_CORES
        service, load = allowed[:-own], allowed[-own:]
    else:
        service = load = allowed
    return Cores(service=service[:1] if placement == "core0" else service, load=load)


def core_list(cores: tuple[int, ...]) -> str:
    """The cores as `taskset -c` takes them: `0,1`."""
    return ",".join(str(core) for core in cores)
