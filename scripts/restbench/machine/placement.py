"""Which cores a service and the load generator may use, by the factor `placement`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

#: Under `per-core` each of several instances has a core of its own.
Placement = Literal["unbound", "core0", "per-core"]

#: From this many cores on, the load generator gets cores of its own.
CORES_FOR_OWN_LOAD_CORES = 4
#: The most of its own cores that the load generator may use: beyond, the trial would measure it.
LARGEST_LOAD_SHARE = 0.4
#: CPU time of the load generator for a request, divided by the service's, where no calibration has
#: measured it: 1/3 with `serial` at low, the cheapest request there is (two kinds of machine).
ASSUMED_COST = 1 / 3


@dataclass(frozen=True)
class Cores:
    """The affinity masks of both sides, as sorted core numbers."""

    service: tuple[int, ...]
    load: tuple[int, ...]

    @property
    def shared(self) -> bool:
        """Whether the load generator competes with the service for a core."""
        return not set(self.service).isdisjoint(self.load)

    @property
    def own_load(self) -> str | None:
        """The load generator's own cores, as `taskset -c` takes them; None where it has none."""
        return None if self.shared else core_list(self.load)


def allowed_cores() -> tuple[int, ...]:
    """The cores this process may use (cpuset and taskset respected), sorted."""
    return tuple(sorted(os.sched_getaffinity(0)))


def own_load_cores(cores: int, cost: float = ASSUMED_COST) -> int:
    """How many of the machine's cores the load generator gets for itself; 0: they are shared.

    The fewest cores, at most half of all, of which the load generator uses no more than
    LARGEST_LOAD_SHARE while the service uses all others fully. `cost` is the CPU time of the load
    generator for a request, divided by the service's.
    """
    if cores < CORES_FOR_OWN_LOAD_CORES:
        return 0
    most = cores // 2
    enough = (own for own in range(1, most) if (cores - own) * cost <= LARGEST_LOAD_SHARE * own)
    return next(enough, most)


def place(placement: Placement, allowed: tuple[int, ...], own: int | None = None) -> Cores:
    """The cores of both sides under a placement.

    With four cores or more the load generator gets the last ones for itself, as many as a
    calibration says (`own`). With fewer cores both use all of them, and the run reports it. `core0`
    binds the service to the lowest allowed core, as the study's `taskset -cp 0` did.
    """
    count = own_load_cores(len(allowed)) if own is None else min(own, len(allowed) // 2)
    service, load = (allowed[:-count], allowed[-count:]) if count else (allowed, allowed)
    return Cores(service=service[:1] if placement == "core0" else service, load=load)


def instances_cores(placement: Placement, cores: Cores, instances: int) -> list[tuple[int, ...]]:
    """The cores of each instance: one each under `per-core`, else all cores of the service."""
    if placement == "per-core":
        return [(core,) for core in cores.service[:instances]]
    return [cores.service] * instances


def core_list(cores: tuple[int, ...]) -> str:
    """The cores as `taskset -c` takes them: `0,1`."""
    return ",".join(str(core) for core in cores)
