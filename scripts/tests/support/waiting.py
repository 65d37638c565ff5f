"""Tests wait for a condition, never for a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds that something may take that takes one on a machine with nothing else to do.
PATIENCE_S = 120.0


def await_true(is_so: Callable[[], object], seconds: float = PATIENCE_S) -> bool:
    """Whether it became true in time."""
    deadline, pause_s = time.monotonic() + seconds, 0.001
    while not (found := is_so()) and time.monotonic() < deadline:
        time.sleep(pause_s)
        pause_s = min(0.05, 2 * pause_s)
    return bool(found)
