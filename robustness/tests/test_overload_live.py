"""Short forms of `make overload` against both services: a promise that is broken fails the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from restbench.cell import ServiceName
from restbench_robustness.overload import flood as flood_of_requests
from restbench_robustness.overload import kills, slow_clients, stops, under_test
from restbench_robustness.overload.flood import Force, overloaded
from restbench_robustness.overload.kills import Killing, pool_killed, worker_killed
from restbench_robustness.overload.promises import Findings, broken
from restbench_robustness.overload.slow_clients import beyond_limit, endured, every_kind
from restbench_robustness.overload.stops import STOPS, stopped
from restbench_robustness.overload.under_test import UnderTest, started
from restbench_robustness.ports import free_port

pytestmark = pytest.mark.live

#: Few requests in flight and short timeouts: the limits are reached within seconds, yet no honest
#: client of a busy machine is that late.
SETTINGS = {
    "RESTBENCH_MAX_IN_FLIGHT": "32",
    "RESTBENCH_RECEIVE_TIMEOUT_SECONDS": "6",
    "RESTBENCH_SEND_TIMEOUT_SECONDS": "6",
    "RESTBENCH_KEEP_ALIVE_SECONDS": "60",
}
FORCE = Force(seconds=3, connections=150, capacity_s=1.0, seed=1)
KILLING = Killing(kills=3, users=4, seed=1)
#: A tester's machine is busy with other tests: whether things come to pass, not how quickly.
PATIENTLY_S = 60.0
BOUNDS: dict[ModuleType, tuple[str, ...]] = {
    under_test: ("IN_TIME_S",),
    flood_of_requests: ("BACK_WITHIN_S", "LONG_S"),
    kills: ("WHOLE_WITHIN_S", "POOLS_WITHIN_S", "LONG_S", "TIMEOUT_S"),
    slow_clients: ("MARGIN_S",),
    stops: ("REFUSES_WITHIN_S", "MARGIN_S"),
}
#: Depend on what else the machine does, not on the service.
OF_THE_MACHINE = ("it really was that much", "normal requests are answered again")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, names in BOUNDS.items():
        for name in names:
            monkeypatch.setattr(module, name, PATIENTLY_S)


@pytest.fixture(params=["java", "python"])
def under(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[UnderTest]:
    """A fresh service on a free port."""
    name: ServiceName = request.param
    monkeypatch.setenv(f"{name.upper()}_PORT", str(free_port()))
    with started(name, tmp_path, SETTINGS) as running:
        yield running


def held(findings: Findings) -> None:
    missed = [each for each in broken(findings.promises) if each.what not in OF_THE_MACHINE]
    assert not missed, "\n".join(f"{each.what}: {each.bound}, seen {each.seen}" for each in missed)


def test_a_service_bears_overload_bad_clients_and_kills_and_stops_in_order(
    under: UnderTest,
) -> None:
    """One after the other on one service: what one leaves behind, the next would find."""
    for scenario in SCENARIOS[under.name]:
        held(scenario(under))


def flood(strategy: str) -> Callable[[UnderTest], Findings]:
    return lambda under: overloaded(under, strategy, FORCE)


def bad_clients(strategy: str) -> Callable[[UnderTest], Findings]:
    return lambda under: endured(under, strategy, (every_kind(), beyond_limit(under)))


def stop(strategy: str) -> Callable[[UnderTest], Findings]:
    """Two more signals and slow senders at once: the hardest of them."""
    return lambda under: stopped(under, strategy, STOPS[-1])


SCENARIOS: dict[ServiceName, list[Callable[[UnderTest], Findings]]] = {
    "java": [flood("thread-pool"), bad_clients("serial"), stop("pinned")],
    "python": [
        flood("process-per-request"),
        bad_clients("serial"),
        lambda under: pool_killed(under, "process-per-request", "restbench-PR", KILLING),
        lambda under: pool_killed(under, "process-per-element", "restbench-PE", KILLING),
        lambda under: worker_killed(under, "serial", KILLING),
        stop("process-per-element"),
    ],
}
