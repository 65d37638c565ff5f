"""The laws of a closed load, against published and independently computed numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from restbench.analyse.bottleneck import Station, bottleneck, bound, knee, open_wait, solve

THREE = [Station("a", 2.0), Station("b", 3.0), Station("c", 1.0)]


def thinking(time: float) -> Station:
    """Of users between two operations: nobody waits for another's."""
    return Station("users", time, None)


def close(value: float) -> object:
    return pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("users", "throughput", "response"),
    [
        (1, 0.1, 6.0),
        (2, 0.175439, 7.4),
        (5, 0.289752, 13.256145),
        (10, 0.328193, 26.469854),
        (20, 0.333247, 56.015632),
    ],
)
def test_single_servers_have_the_values_of_exact_mva(
    users: int, throughput: float, response: float
) -> None:
    found = solve([*THREE, thinking(4.0)], users)[-1]
    assert found.throughput == close(throughput)
    assert found.response == close(4.0 + response)
    assert sum(found.residence) == close(4.0 + response)


def test_a_response_passes_at_its_stations_as_by_exact_mva() -> None:
    found = solve([*THREE, thinking(4.0)], 20)[-1]
    assert found.residence == pytest.approx((5.9734, 48.5426, 1.4996, 4.0), abs=5e-5)


@pytest.mark.parametrize(
    ("arrivals", "station", "waits"),
    [
        (8, Station("cpu", 0.2, 2), 0.711111),
        (3, Station("cpu", 1.0, 4), 0.509434),
        (4, Station("cpu", 0.2), 0.8),
        (5, Station("cpu", 0.2), 1.0),
        (5, Station("network", 0.2, None), 0.0),
    ],
)
def test_of_an_open_load_so_many_wait_by_erlangs_c(
    arrivals: float, station: Station, waits: float
) -> None:
    assert open_wait(station, arrivals) == close(waits)


@pytest.mark.parametrize(
    ("users", "throughput"), [(1, 8.474576), (4, 20.371789), (10, 22.530034), (60, 22.727273)]
)
def test_mixed_stations_keep_their_digits_when_saturated(users: int, throughput: float) -> None:
    found = solve([Station("cpu", 0.088, 2), Station("wal", 0.03)], users)[-1]
    assert found.throughput == close(throughput)


def by_birth_and_death(demand: float, servers: int, think: float, users: int) -> float:
    """Throughput of one station: n are there, others think; balance of neighbouring states."""
    weights = [1.0]
    for n in range(1, users + 1):
        arriving, leaving = (users - n + 1) / think, min(n, servers) / demand
        weights.append(weights[-1] * arriving / leaving)
    rates = [min(n, servers) / demand for n in range(users + 1)]
    return sum(w * r for w, r in zip(weights, rates, strict=True)) / sum(weights)


@pytest.mark.parametrize("servers", [1, 2, 3, 8])
@pytest.mark.parametrize("users", [1, 2, 7, 60])
def test_one_station_is_a_birth_and_death_process(servers: int, users: int) -> None:
    found = solve([Station("cpu", 0.2, servers), thinking(1.0)], users)[-1]
    assert found.throughput == pytest.approx(by_birth_and_death(0.2, servers, 1.0, users))


def by_recursion(
    demands: Sequence[float], servers: Sequence[int], users: int, think: float
) -> tuple[float, list[float]]:
    """Throughput, and the time at each station, by exact mean value analysis, as it is written
    down: sound for few users."""
    marginal = [np.eye(1, users + 1)[0] for _ in demands]
    throughput, residence = 0.0, list[float]()
    for n in range(1, users + 1):
        residence = [
            sum(d * j / min(j, m) * p[j - 1] for j in range(1, n + 1))
            for d, m, p in zip(demands, servers, marginal, strict=True)
        ]
        throughput = n / (think + sum(residence))
        for at, (d, m) in enumerate(zip(demands, servers, strict=True)):
            new = np.zeros(users + 1)
            for j in range(1, n + 1):
                new[j] = throughput * d / min(j, m) * marginal[at][j - 1]
            new[0] = 1 - new.sum()
            marginal[at] = new
    return throughput, residence


@pytest.mark.parametrize("users", [1, 3, 6, 12])
def test_convolution_and_mean_value_analysis_agree(users: int) -> None:
    demands, servers = [0.5, 0.3, 0.7], [2, 1, 4]
    stations = [Station("", d, m) for d, m in zip(demands, servers, strict=True)]
    found = solve([*stations, thinking(0.4)], users)[-1]
    throughput, residence = by_recursion(demands, servers, users, 0.4)
    assert found.throughput == pytest.approx(throughput)
    assert found.residence == pytest.approx((*residence, 0.4))


def test_hundreds_of_users_neither_overflow_nor_lose_their_digits() -> None:
    found = solve([Station("cpu", 5e3, 64), Station("wal", 1e-3), thinking(1e5)], 1000)
    assert found[-1].throughput == pytest.approx(by_birth_and_death(5e3, 64, 1e5, 1000), rel=1e-6)
    assert all(a.throughput < b.throughput for a, b in pairwise(found))


def test_the_bounds_meet_at_the_knee() -> None:
    stations = [*THREE, thinking(4.0)]
    assert knee(stations) == close(10 / 3)
    assert bottleneck(stations).name == "b"
    assert bound(stations, 1) == close(0.1)
    assert bound(stations, 10 / 3) == close(1 / 3)
    assert 20 / bound(stations, 20) == close(60), "a response takes that at least"


def test_no_solution_is_beyond_its_bounds() -> None:
    stations = [Station("cpu", 0.088, 2), Station("wal", 0.03), Station("network", 0.2, None)]
    for each in solve(stations, 40):
        assert each.throughput <= bound(stations, each.users) * (1 + 1e-12)


def test_delays_alone_have_no_knee() -> None:
    network = [Station("network", 0.5, None)]
    assert knee(network) == math.inf
    assert bound(network, 8) == close(16)
    assert solve(network, 8)[-1].throughput == close(16)


def test_a_network_without_a_demand_has_no_throughput() -> None:
    with pytest.raises(ValueError, match="demand"):
        solve([Station("cpu", 0.0)], 3)


def test_a_station_without_demand_changes_nothing() -> None:
    with_it = solve([*THREE, Station("none", 0.0, 2), thinking(4.0)], 5)[-1]
    assert with_it.throughput == close(0.289752)
    assert with_it.response == solve([*THREE, thinking(4.0)], 5)[-1].response
