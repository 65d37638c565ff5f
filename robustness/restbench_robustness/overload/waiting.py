"""Waiting for something to come to pass, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable

PAUSE_S = 0.05


def seconds_until(condition: Callable[[], bool], timeout_s: float) -> float | None:
    """Seconds until the condition held; None where it did not within `timeout_s`."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > timeout_s:
            return None
        time.sleep(PAUSE_S)
    return time.monotonic() - began
