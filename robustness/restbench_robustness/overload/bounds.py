"""What the services promise to stay under: computed from the settings that /health shows."""

from __future__ import annotations

from dataclasses import dataclass

from restbench_robustness.overload.tree import Tree
from restbench_robustness.overload.under_test import UnderTest

MIB = 1 << 20


@dataclass(frozen=True)
class Bounds:
    """The most a service may ever take."""

    memory_bytes: int
    threads: int
    files: int
    processes: int


def stated(under: UnderTest, idle: Tree) -> Bounds:
    """The bounds of a service that was seen idle, as its README computes them."""
    limit = under.limit
    requests = limit("maxInFlight") + 64
    return Bounds(
        memory_bytes=idle.memory_bytes + 2048 * MIB,
        threads=idle.threads + requests + 6000,
        files=idle.files + 2000 + 64,
        processes=idle.processes,
    )
