"""How the CPU time of the cores that we may use (the machine) was used between two moments."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from restbench.machine import process
from restbench.machine.placement import allowed_cores

LOOK_S = 0.5
STAT = Path("/proc/stat")
#: Columns of a core's line in /proc/stat with time that no process used: idle, iowait, steal.
_NOT_BUSY = (3, 4, 7)
_STEAL = 7
#: Number of columns that are summed: the time of guests, in later ones, is part of user and nice.
_COUNTED = 8


@dataclass(frozen=True)
class Shares:
    """Percent of the machine's CPU time."""

    foreign_pct: float
    """Time of processes that are not ours."""
    steal_pct: float
    """Time that the hypervisor took away."""


@dataclass(frozen=True)
class CpuTicks:
    """CPU time so far, in clock ticks: of the cores (all, busy, stolen), and of our processes."""

    total: int
    busy: int
    steal: int
    ours: float

    def since(self, first: CpuTicks) -> Shares:
        """The shares of the time since `first`; it has our same processes, except later ones."""
        total = max(1, self.total - first.total)
        foreign = max(0.0, self.busy - first.busy - (self.ours - first.ours))
        return Shares(100 * foreign / total, 100 * (self.steal - first.steal) / total)


def look(pids: tuple[int, ...] = ()) -> float:
    """Watch the machine for LOOK_S; returns the foreign share in percent, where `pids` are ours.
    The kernel counts in steps of 10 ms a core: half a second on two cores resolves 1 %."""
    first = used(pids)
    time.sleep(LOOK_S)
    return used(pids).since(first).foreign_pct


def used(pids: tuple[int, ...] = ()) -> CpuTicks:
    """The CPU time so far; our processes are `pids` and this process."""
    ours_ms = process.cpu_ms((*pids, os.getpid()))
    ours = ours_ms * process.CLOCK_TICKS_PER_S / 1000
    return parsed(STAT.read_text(), allowed_cores(), ours)


def counted() -> Sequence[str]:
    """The names of the lines of /proc/stat that are summed."""
    return [name for name, *_ in _lines(STAT.read_text(), allowed_cores())]


def parsed(stat: str, cores: Sequence[int], ours: float = 0.0) -> CpuTicks:
    """The CPU time of these cores from the text of /proc/stat; `ours` is that of our processes."""
    columns = zip(*(ticks[:_COUNTED] for _, *ticks in _lines(stat, cores)), strict=True)
    ticks = [sum(map(int, each)) for each in columns]
    idle = sum(ticks[position] for position in _NOT_BUSY)
    return CpuTicks(sum(ticks), sum(ticks) - idle, ticks[_STEAL], ours)


def _lines(stat: str, cores: Sequence[int]) -> list[list[str]]:
    """The line of each core, split. Where a core has no line, the line of all cores: some
    containers show only their own cores, under other numbers."""
    every = {line.partition(" ")[0]: line.split() for line in stat.splitlines()}
    names = [f"cpu{core}" for core in cores]
    return [every[name] for name in (names if {*names} <= {*every} else ["cpu"])]
