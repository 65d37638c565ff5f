"""Time that nobody sets, and whether somebody set the wall clock.

JMeter stamps its samples with the wall clock, so a window is cut by it. A step of that clock in the
middle of a load moves samples into the window or out of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from restbench.failures import EnvironmentProblem

#: A smaller step is none: it is a hundredth of the shortest window of any profile (2 s), far below
#: the margin of every verdict (5 %). What NTP does all the time, slewing by a few ms, is not seen
#: at all: the kernel slews CLOCK_MONOTONIC by the same amount.
JUMP_MS = 20.0
#: Two clocks cannot be read at once. A reading that took longer was interrupted, and is repeated.
READ_WITHIN_NS = 1_000_000
READINGS = 20
_NS_PER_MS = 1_000_000


@dataclass(frozen=True)
class Reading:
    """The clocks at one moment, nanoseconds. CLOCK_BOOTTIME is set by nobody and goes on while the
    machine sleeps; CLOCK_MONOTONIC stops then."""

    wall_ns: int
    monotonic_ns: int
    boottime_ns: int


def read() -> Reading:
    """All three clocks within a millisecond, where the machine lets us."""
    found: list[tuple[int, Reading]] = []
    for _ in range(READINGS):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        wall = time.clock_gettime_ns(time.CLOCK_REALTIME)
        boottime = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        took = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - before
        found.append((took, Reading(wall, before + took // 2, boottime)))
        if took <= READ_WITHIN_NS:
            break
    return min(found, key=lambda each: each[0])[1]


class ClockWatch:
    """Knows how the clocks stood when it was made."""

    def __init__(self) -> None:
        """Watches from now on."""
        self.first = read()

    def stepped_ms(self) -> float:
        """How far the wall clock has been set since, forward or (negative) back."""
        now = read()
        return (_ahead_ns(now) - _ahead_ns(self.first)) / _NS_PER_MS

    def slept_ms(self) -> float:
        """How long the machine has been suspended since."""
        now = read()
        return (_slept_ns(now) - _slept_ns(self.first)) / _NS_PER_MS

    def jump(self) -> str | None:
        """What happened to the clock since, in words; None where nothing did."""
        if abs(stepped_ms := self.stepped_ms()) >= JUMP_MS:
            return f"the clock was set by {stepped_ms / 1000:+,.3f} s"
        if (slept_ms := self.slept_ms()) >= JUMP_MS:
            return f"the machine was suspended for {slept_ms / 1000:,.1f} s"
        return None

    def check(self) -> None:
        """EnvironmentProblem where the clock jumped: stamps from before and after do not fit."""
        if happened := self.jump():
            raise EnvironmentProblem(
                f"{happened} during the load, so the stamps of its samples do not fit together; "
                "let the time service slew the clock, or stop it while a benchmark runs"
            )


def _ahead_ns(reading: Reading) -> int:
    return reading.wall_ns - reading.boottime_ns


def _slept_ns(reading: Reading) -> int:
    return reading.boottime_ns - reading.monotonic_ns


_STARTED = read()


def now() -> datetime:
    """The time of day as it was when this process began, and what has passed since: a step of the
    wall clock does not reach it, so nothing ends before it began."""
    passed = timedelta(microseconds=(read().boottime_ns - _STARTED.boottime_ns) / 1000)
    return datetime.fromtimestamp(_STARTED.wall_ns / 1e9).astimezone() + passed


def running_s() -> float:
    """How long this process has been running, from `/proc/self/stat`: in steps of a clock tick."""
    born_ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return read().boottime_ns / 1e9 - born_ticks / os.sysconf("SC_CLK_TCK")


def now_text() -> str:
    """The same, ISO 8601 with whole seconds."""
    return now().isoformat(timespec="seconds")


def comes_true(is_so: Callable[[], object], within_s: float, every_s: float = 0.01) -> bool:
    """Whether it is so within that time: it is asked now, then every so often."""
    deadline = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(every_s)
    return True
