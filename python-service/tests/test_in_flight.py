"""Who was here is remembered for one period at least, and for two at most."""

import pytest

from restbench_service.execution import in_flight
from restbench_service.execution.in_flight import PERIOD_SECONDS, InFlight


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(in_flight, "monotonic", clock)
    return clock


def two_at_once() -> InFlight:
    requests = InFlight()
    requests.arrived()
    requests.arrived()
    requests.left()
    requests.left()
    return requests


def test_those_who_are_here_are_counted() -> None:
    requests = InFlight()
    requests.arrived()
    requests.arrived()
    requests.left()
    assert requests.now == 1


def test_who_left_is_known_for_a_period(clock: Clock) -> None:
    requests = two_at_once()
    assert requests.now == 0
    for _ in range(2):
        assert requests.recently == 2
        clock.time += PERIOD_SECONDS * 0.99


def test_who_left_is_forgotten_after_two(clock: Clock) -> None:
    requests = two_at_once()
    clock.time += PERIOD_SECONDS
    requests.arrived()
    requests.left()
    assert requests.recently == 2
    clock.time += PERIOD_SECONDS
    assert requests.recently == 1


def test_looks_in_between_do_not_keep_who_left(clock: Clock) -> None:
    requests = two_at_once()
    clock.time += 1.9 * PERIOD_SECONDS
    assert requests.recently == 2
    clock.time += 0.2 * PERIOD_SECONDS
    assert requests.recently == 0


def test_a_long_silence_is_two_periods_and_who_stays_is_never_forgotten(clock: Clock) -> None:
    requests = two_at_once()
    requests.arrived()
    for silence in (7, 1):
        clock.time += silence * PERIOD_SECONDS
        assert requests.recently == 1
