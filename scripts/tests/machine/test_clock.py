"""Is a step of the wall clock seen, and a nap of the machine? And is nothing seen otherwise?"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime

import pytest

from restbench.failures import EnvironmentProblem
from restbench.machine import clock
from restbench.machine.clock import ClockWatch, Reading

S = 1_000_000_000
FIRST = Reading(wall_ns=1_795_000_000 * S, monotonic_ns=500 * S, boottime_ns=500 * S)


def later(seconds: float, wall_s: float = 0.0, asleep_s: float = 0.0) -> Reading:
    """The clocks after `seconds` awake, the wall clock set by `wall_s`, after a nap."""
    passed = round(seconds * S)
    return Reading(
        wall_ns=FIRST.wall_ns + passed + round((wall_s + asleep_s) * S),
        monotonic_ns=FIRST.monotonic_ns + passed,
        boottime_ns=FIRST.boottime_ns + passed + round(asleep_s * S),
    )


def watched(monkeypatch: pytest.MonkeyPatch, then: Reading) -> ClockWatch:
    readings = iter([FIRST, *[then] * 10])
    monkeypatch.setattr(clock, "read", lambda: next(readings))
    return ClockWatch()


@pytest.mark.parametrize(
    ("then", "told"),
    [
        (later(2, wall_s=3600), "the clock was set by +3,600.000 s"),
        (later(2, wall_s=-3600), "the clock was set by -3,600.000 s"),
        (later(2, wall_s=-0.5), "the clock was set by -0.500 s"),
        (later(2, wall_s=0.02), "the clock was set by +0.020 s"),
        (later(2, asleep_s=90), "the machine was suspended for 90.0 s"),
    ],
)
def test_a_jump_is_told_with_its_direction_and_size(
    monkeypatch: pytest.MonkeyPatch, then: Reading, told: str
) -> None:
    watch = watched(monkeypatch, then)
    with pytest.raises(EnvironmentProblem, match="during the load") as raised:
        watch.check()
    assert str(raised.value).startswith(told)


@pytest.mark.parametrize("wall_s", [0.0, 0.005, -0.005, 0.015])
def test_a_few_milliseconds_are_no_jump(monkeypatch: pytest.MonkeyPatch, wall_s: float) -> None:
    assert watched(monkeypatch, later(300, wall_s=wall_s)).jump() is None


def test_the_real_clocks_are_read_close_together_and_stand_still_against_each_other() -> None:
    watch = ClockWatch()
    for _ in range(50):
        time.sleep(0.002)
        assert abs(watch.stepped_ms()) < clock.JUMP_MS
        assert abs(watch.slept_ms()) < clock.JUMP_MS
        watch.check()


def test_the_end_of_a_run_is_after_its_start_whatever_the_wall_clock_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = clock.read()
    begun = clock.now()
    set_back = replace(started, wall_ns=started.wall_ns - 7200 * S)
    an_hour_on = replace(set_back, boottime_ns=started.boottime_ns + 3600 * S)
    monkeypatch.setattr(clock, "read", lambda: an_hour_on)
    assert (clock.now() - begun).total_seconds() == pytest.approx(3600, abs=60)
    assert datetime.fromisoformat(clock.now_text()).tzinfo is not None
