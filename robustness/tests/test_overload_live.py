"""Short forms of `make overload` against both services: a promise that is broken fails the test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from restbench.experiment.cell import ServiceName
from restbench.machine.ports import free as free_port
from restbench_robustness.overload import flood, kills, slow, stops, subject
from restbench_robustness.overload.__main__ import POOLS
from restbench_robustness.overload.flood import Force, overloaded
from restbench_robustness.overload.kills import Killing, pool_killed
from restbench_robustness.overload.promises import Findings, broken
from restbench_robustness.overload.slow import besieged, endured
from restbench_robustness.overload.stops import stopped
from restbench_robustness.overload.subject import Subject, started

pytestmark = pytest.mark.live

SETTINGS = {"RESTBENCH_MAX_IN_FLIGHT": "32", "RESTBENCH_RECEIVE_TIMEOUT_SECONDS": "6"}
"""Few requests in flight: the limit is reached within seconds."""
FORCE = Force(seconds=3, connections=150, capacity_s=1.0, seed=1)
KILLING = Killing(kills=3, users=4, seed=1)
SIEGE_S = 6.0
PATIENTLY_S = 60.0
"""A tester's machine is busy with other tests: whether things come to pass, not how quickly."""
BOUNDS: dict[ModuleType, tuple[str, ...]] = {
    subject: ("IN_TIME_S",),
    flood: ("BACK_WITHIN_S", "LONG_S"),
    kills: ("ANSWERED_WITHIN_S", "WHOLE_WITHIN_S", "LONG_S", "TIMEOUT_S"),
    slow: ("MARGIN_S",),
    stops: ("MARGIN_S",),
}
HEALTH_PATIENTLY_S = 5.0
"""A second on an idle machine; without the front it was silent for 14."""
OF_THE_MACHINE = ("it really was that much", "normal requests are right again")
"""Depend on what else the machine does, not on the service."""
Scenario = Callable[[Subject], Coroutine[Any, Any, Findings]]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, names in BOUNDS.items():
        for name in names:
            monkeypatch.setattr(module, name, PATIENTLY_S)
    monkeypatch.setattr(slow, "HEALTH_WITHIN_S", HEALTH_PATIENTLY_S)
    monkeypatch.setattr(slow, "WATCHED_S", 4.0)


@pytest.fixture(params=["java", "python"])
def under(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Subject]:
    """A fresh service behind nginx on a free port."""
    name: ServiceName = request.param
    monkeypatch.setenv(f"{name.upper()}_PORT", str(free_port()))
    for setting, value in SETTINGS.items():
        monkeypatch.setenv(setting, value)
    with started(name, tmp_path) as running:
        yield running


def test_a_service_bears_overload_bad_clients_and_kills_and_stops_in_order(under: Subject) -> None:
    """One after the other on one service: what one leaves behind, the next would find."""
    for scenario in SCENARIOS[under.name]:
        findings = asyncio.run(scenario(under))
        missed = [it for it in broken(findings.promises) if it.what not in OF_THE_MACHINE]
        assert not missed, "\n".join(
            f"{findings.subject}: {it.what}: {it.bound}, seen {it.seen}" for it in missed
        )


def pool(strategy: str) -> Scenario:
    return lambda under: pool_killed(under, strategy, POOLS[strategy], KILLING)


SCENARIOS: dict[ServiceName, list[Scenario]] = {
    "java": [
        lambda under: overloaded(under, "thread-pool", FORCE),
        lambda under: endured(under, "serial"),
        lambda under: besieged(under, "serial", 300, SIEGE_S),
        lambda under: besieged(under, "serial", 600, SIEGE_S),
        lambda under: stopped(under, "pinned"),
    ],
    "python": [
        lambda under: overloaded(under, "process-per-request", FORCE),
        lambda under: endured(under, "serial"),
        lambda under: besieged(under, "serial", 300, SIEGE_S),
        lambda under: besieged(under, "serial", 600, SIEGE_S),
        *map(pool, POOLS),
        lambda under: stopped(under, "process-per-element"),
    ],
}
