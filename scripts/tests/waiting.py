"""Tests wait for a condition, never for a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds that something may take that takes one on a machine with nothing else to do.
PATIENCE_S = 120.0


def await_true(is_so: Callable[[], object], seconds: float = PATIENCE_S) -> bool:
    """Whether it became true in time."""
    deadline = time.monotonic() + seconds
    while not (found := is_so()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(found)
