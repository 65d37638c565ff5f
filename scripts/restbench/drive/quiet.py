"""What the machine does while nothing of ours should be at work (method, rule 12)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from restbench.deploy.service import Service
from restbench.drive import monitor
from restbench.experiment.records import Before, Disturbance
from restbench.machine import process
from restbench.machine.phases import spent_on

LOOK_S = 0.5
#: A service that works longer for clients that are gone is started anew. Waiting is better: a JVM
#: that has just started takes as long to be warm again, and is colder for many cells.
DRAIN_TIMEOUT_S = 20.0
DRAIN_POLL_S = 0.1
STAT = Path("/proc/stat")
#: Where /proc/stat's first line has the time that no process used: idle, iowait, steal.
_STEAL = 7
_NOT_BUSY = (3, 4, _STEAL)
#: Guests' time is told within user's and nice's already.
_COUNTED = 8


@dataclass(frozen=True)
class _Clock:
    """CPU time so far, milliseconds: of all cores, busy or not, and what we know of it."""

    total_ms: float
    busy_ms: float
    known_ms: float
    stolen_ms: float


@dataclass(frozen=True)
class Look:
    """A look at the machine that has begun."""

    known: Callable[[], tuple[int, ...]]
    """The processes that are not foreign, beside this one: asked at both ends."""
    begun_s: float
    first: _Clock

    def end(self, seconds: float = LOOK_S) -> Before:
        """What was seen since it began; waits until that is `seconds` ago, if need be.

        The kernel counts in steps of 10 ms a core: half a second on two cores tells 1 %.
        """
        time.sleep(max(0.0, self.begun_s + seconds - time.monotonic()))
        return Before(foreign_pct=self.so_far().foreign_pct, load1=os.getloadavg()[0])

    def so_far(self) -> Disturbance:
        """What was seen since it began."""
        first, last = self.first, _read(self.known())
        total_ms = max(1.0, last.total_ms - first.total_ms)
        foreign_ms = (last.busy_ms - first.busy_ms) - (last.known_ms - first.known_ms)
        return Disturbance(
            foreign_pct=round(100 * max(0.0, foreign_ms / total_ms), 2),
            steal_pct=round(100 * (last.stolen_ms - first.stolen_ms) / total_ms, 2),
        )


def begin(known: Callable[[], tuple[int, ...]]) -> Look:
    """Begin to look. What the known processes do meanwhile is not foreign, whatever it is: a
    request may be answered, a load generator may start."""
    return Look(known, time.monotonic(), _read(known()))


def look(pids: tuple[int, ...], seconds: float = LOOK_S) -> Before:
    """Watch the machine for a moment; `pids` (the service's) and this process are not foreign."""
    return begin(lambda: pids).end(seconds)


@spent_on("drain")
def drained(service: Service) -> bool:
    """Wait until no request is in flight; False when some still are (their clients are gone)."""
    deadline = time.monotonic() + DRAIN_TIMEOUT_S
    while time.monotonic() < deadline:
        # None, no answer in time, is anything but idle.
        if monitor.requests_in_flight(service) == 0:
            return True
        time.sleep(DRAIN_POLL_S)
    return False


def _read(pids: tuple[int, ...]) -> _Clock:
    line = STAT.read_text().partition("\n")[0]
    ticks = [int(each) for each in line.split()[1:]][:_COUNTED]
    idle = sum(ticks[position] for position in _NOT_BUSY)
    per_tick = 1000 / process.CLOCK_TICKS_PER_S
    return _Clock(
        total_ms=sum(ticks) * per_tick,
        busy_ms=(sum(ticks) - idle) * per_tick,
        known_ms=process.cpu_ms((*pids, os.getpid())),
        stolen_ms=ticks[_STEAL] * per_tick,
    )
