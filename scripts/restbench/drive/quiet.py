"""What the machine does while nothing of ours should be at work (method, rule 12)."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from restbench.experiment.records import Before
from restbench.machine import process

LOOK_S = 0.5
STAT = Path("/proc/stat")
#: Where /proc/stat's first line has the time that no process used: idle, iowait, steal.
_NOT_BUSY = (3, 4, 7)
#: Guests' time is told within user's and nice's already.
_COUNTED = 8


@dataclass(frozen=True)
class _Clock:
    """CPU time so far, milliseconds: of all cores, busy or not, and what we know of it."""

    total_ms: float
    busy_ms: float
    known_ms: float


def look(pids: tuple[int, ...], seconds: float = LOOK_S) -> Before:
    """Watch the machine for a moment; `pids` (the service's) and this process are not foreign.

    The kernel counts in steps of 10 ms a core: half a second on two cores tells 1 %.
    """
    first = _read(pids)
    time.sleep(seconds)
    last = _read(pids)
    foreign_ms = (last.busy_ms - first.busy_ms) - (last.known_ms - first.known_ms)
    share = max(0.0, foreign_ms / max(1.0, last.total_ms - first.total_ms))
    return Before(foreign_pct=round(100 * share, 2), load1=os.getloadavg()[0])


def _read(pids: tuple[int, ...]) -> _Clock:
    line = STAT.read_text().partition("\n")[0]
    ticks = [int(each) for each in line.split()[1:]][:_COUNTED]
    idle = sum(ticks[position] for position in _NOT_BUSY)
    per_tick = 1000 / process.CLOCK_TICKS_PER_S
    return _Clock(
        total_ms=sum(ticks) * per_tick,
        busy_ms=(sum(ticks) - idle) * per_tick,
        known_ms=process.cpu_ms((*pids, os.getpid())),
    )
