"""Clocks that do not change when somebody sets the system time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path


def boottime_s() -> float:
    """Seconds since the machine's start, including those in which it was suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


_BEGAN, _BEGAN_S = datetime.now().astimezone(), boottime_s()


def now() -> datetime:
    """The time of day at which this process began, plus the time that has passed since. A step of
    the wall clock does not affect it, so nothing ends before it began."""
    return _BEGAN + timedelta(seconds=boottime_s() - _BEGAN_S)


def running_s() -> float:
    """How long this process has been running, from `/proc/self/stat`, in steps of a clock tick."""
    born_ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return boottime_s() - born_ticks / os.sysconf("SC_CLK_TCK")


def now_text() -> str:
    """The same as now(), ISO 8601 with whole seconds."""
    return now().isoformat(timespec="seconds")


def wait_until(is_so: Callable[[], object], within_s: float, every_s: float = 0.01) -> bool:
    """Whether `is_so`, called at once and then every `every_s`, becomes true within `within_s`."""
    deadline = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(every_s)
    return True
