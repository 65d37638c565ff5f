"""Short forms of `make overload` against both services: a promise that is broken fails the test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from restbench.experiment.cell import Front, ServiceName
from restbench.machine.ports import reserve_stable_port as free_port
from restbench_robustness.overload import large, scenarios, subject
from restbench_robustness.overload.promises import Findings, broken
from restbench_robustness.overload.scenarios import Force
from restbench_robustness.overload.subject import Subject

pytestmark = pytest.mark.live

SETTINGS = {
    "RESTBENCH_MAX_IN_FLIGHT": "32",
    "RESTBENCH_RECEIVE_TIMEOUT_SECONDS": "6",
    "RESTBENCH_MAX_BODY_BYTES": str(16 << 20),
}
"""Few requests in flight: the limit is reached within seconds. A large body is a thousand times
what HAProxy keeps of it."""
FORCE = Force(seconds=2, connections=150, kills=2, seed=1)
#: A tester's machine is busy with other tests: whether things come to pass, not how quickly.
PATIENTLY_S = 60.0
BOUNDS = ["BACK_WITHIN_S", "ANSWERED_WITHIN_S", "WHOLE_WITHIN_S", "LONG_S", "TIMEOUT_S", "MARGIN_S"]
OF_THE_MACHINE = ("normal requests are right again", "median of 10 users of low")
"""Depends on what else the machine does, not on the service."""
Scenario = Callable[[Subject], Coroutine[Any, Any, Findings]]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in BOUNDS:
        monkeypatch.setattr(scenarios, name, PATIENTLY_S)
    monkeypatch.setattr(subject, "IN_TIME_S", PATIENTLY_S)
    # A second on an idle machine; without the front it was silent for 14.
    monkeypatch.setattr(scenarios, "HEALTH_WITHIN_S", 9.0)
    for name, less in {"WATCHED_S": 3.0, "CAPACITY_S": 1.0, "USERS": 4}.items():
        monkeypatch.setattr(scenarios, name, less)
    monkeypatch.setattr(large, "ANSWERED_WITHIN_S", PATIENTLY_S)
    for name in ("WARM_S", "BEFORE_S", "REPEATED"):
        monkeypatch.setattr(large, name, 1)


@pytest.fixture
def under(
    name: ServiceName, front: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Subject]:
    """A fresh service behind a front on a free port."""
    monkeypatch.setenv(f"{name.upper()}_PORT", str(free_port()))
    for setting, value in SETTINGS.items():
        monkeypatch.setenv(setting, value)
    with subject.started(name, front, tmp_path) as running:
        yield running


@pytest.mark.parametrize("front", ["nginx", "haproxy"])
@pytest.mark.parametrize("name", ["java", "python"])
def test_a_service_bears_overload_bad_clients_and_kills_and_stops_in_order(
    under: Subject, name: ServiceName, front: Front
) -> None:
    """One after the other on one service: what one leaves behind, the next would find."""
    for scenario in SCENARIOS[front][name]:
        findings = asyncio.run(scenario(under))
        missed = [it for it in broken(findings.promises, front) if it.what not in OF_THE_MACHINE]
        assert not missed, "\n".join(f"{findings.subject}: {it}" for it in missed)


def flood(strategy: str) -> Scenario:
    return lambda under: scenarios.overloaded(under, strategy, FORCE)


def pool(strategy: str) -> Scenario:
    return lambda under: scenarios.pool_killed(under, strategy, FORCE)


def stop(strategy: str) -> Scenario:
    return lambda under: scenarios.stopped(under, strategy)


async def recognized(under: Subject) -> Findings:
    """Every kind of large body once, nobody beside it: its code, however long that takes."""
    findings, size = Findings(f"{under.name}: large bodies"), under.limit("maxBodyBytes")
    for each in large.BODIES:
        if under.name == "java" or not each.soap:
            path = f"{'/soap' * each.soap}/matrix/serial?kernel=native"
            _, code = await asyncio.to_thread(large.post, under, path, each, each.body(size))
            findings.judge(each.key, " or ".join(each.codes), code, code in each.codes)
    return findings


LARGE: list[Scenario] = [lambda under: large.weighed(under, "serial", large.BODIES[0])]
SLOW: list[Scenario] = [
    lambda under: scenarios.endured(under, "serial"),
    lambda under: scenarios.besieged(under, "serial", 600, 4.0),
]
#: Each of the two libraries, per element and per request, and the pool of low priority; the
#: service's own tests have each library with each kind.
KILLED = ("process-per-element", "executor-per-request", "adaptive")
#: Slow clients of nginx are nginx's alone, whatever stands behind it: Java has the 600 only.
#: HAProxy keeps less of a request: there each service ends them too.
SCENARIOS: dict[Front, dict[ServiceName, list[Scenario]]] = {
    "nginx": {
        "java": [flood("thread-pool"), *LARGE, recognized, SLOW[-1], stop("pinned")],
        "python": [
            flood("process-per-request"),
            *LARGE,
            recognized,
            *SLOW,
            *map(pool, KILLED),
            stop("process-per-element"),
        ],
    },
    "haproxy": {
        "java": [*LARGE, *SLOW, stop("pinned")],
        "python": [*LARGE, *SLOW, stop("process-per-element")],
    },
}
