"""The time of day that no step of the wall clock reaches."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from restbench.machine import clock


def test_what_is_later_is_later_whatever_the_wall_clock_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, at_s = clock.now(), clock.boottime_s()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr(clock, "boottime_s", lambda: at_s + 3600)
    assert (clock.now() - begun).total_seconds() == pytest.approx(3600, abs=60)
    assert datetime.fromisoformat(clock.now_text()).tzinfo is not None


def test_it_is_the_time_of_day() -> None:
    assert abs(clock.now().timestamp() - time.time()) < 60
