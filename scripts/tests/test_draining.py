"""How long a service is waited for that is at work for clients that are gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from restbench import draining, monitor
from restbench.draining import DRAIN_TIMEOUT_S, PACE_S, drained, drained_or_hopeless
from restbench.service import Service

InFlight = Callable[[float], float | None]


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


class Ours(Service):
    @property
    def attached(self) -> bool:
        return False


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(draining.time, "monotonic", clock)
    monkeypatch.setattr(draining.time, "sleep", clock.sleep)
    return clock


@pytest.fixture
def working(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Callable[[InFlight], None]:
    def say(in_flight: InFlight) -> None:
        monkeypatch.setattr(monitor, "requests_in_flight", lambda _: in_flight(clock.now_s))

    return say


OURS, OTHERS = Ours("java", "http://127.0.0.1:1"), Service("java", "http://127.0.0.1:1")
WAITS = pytest.mark.parametrize("wait", [drained, drained_or_hopeless])


@WAITS
def test_an_idle_service_is_not_waited_for(
    wait: Callable[[Service], bool], working: Callable[[InFlight], None], clock: Clock
) -> None:
    working(lambda _: 0)
    assert wait(OURS)
    assert clock.now_s == 0


@WAITS
def test_one_that_ends_what_it_has_is_waited_for(
    wait: Callable[[Service], bool], working: Callable[[InFlight], None], clock: Clock
) -> None:
    working(lambda now_s: max(0.0, 10.0 - int(now_s)))
    assert wait(OURS)
    assert clock.now_s == pytest.approx(10, abs=0.2)


@WAITS
@pytest.mark.parametrize("stuck", [7.0, None])
def test_one_that_ends_nothing_or_says_nothing_is_waited_for_until_time_is_over(
    wait: Callable[[Service], bool],
    working: Callable[[InFlight], None],
    clock: Clock,
    stuck: float | None,
) -> None:
    working(lambda _: stuck)
    assert not wait(OURS)
    assert clock.now_s == pytest.approx(DRAIN_TIMEOUT_S, abs=0.2)


def slow(now_s: float) -> float:
    """Two thirds of a request a second: 90 s for all of them."""
    return 60.0 - int(now_s / 1.5)


def test_at_a_pace_that_is_far_too_slow_nobody_waits_for_the_rest(
    working: Callable[[InFlight], None], clock: Clock
) -> None:
    working(slow)
    assert not drained_or_hopeless(OURS)
    assert clock.now_s == pytest.approx(PACE_S, abs=0.2)


def test_where_no_fresh_one_follows_it_is_waited_for_all_the_same(
    working: Callable[[InFlight], None], clock: Clock
) -> None:
    working(slow)
    assert not drained(OURS)
    assert not drained_or_hopeless(OTHERS)
    assert clock.now_s == pytest.approx(2 * DRAIN_TIMEOUT_S, abs=0.4)


def test_a_pace_that_can_still_grow_is_waited_for(
    working: Callable[[InFlight], None], clock: Clock
) -> None:
    """At first 30 s for all of them; then each has more of the cores."""
    working(lambda now_s: max(0.0, 60.0 - 2 * now_s - now_s**2 / 4))
    assert drained_or_hopeless(OURS)
    assert PACE_S < clock.now_s < DRAIN_TIMEOUT_S
