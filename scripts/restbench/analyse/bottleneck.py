"""Queueing laws of a closed load: demands, utilisation, bounds, the knee, and the exact solution
of a network of stations; for an open load, the waiting at one station. Pure, on plain numbers.

Times are in any unit, rates in its inverse. A demand is the service time that an operation needs at
a station, all visits together. Source: Lazowska, Zahorjan, Graham, Sevcik, Quantitative System
Performance, chapters 3 to 6; Reiser and Lavenberg, JACM 27 (1980), for stations of several servers.

A network is solved by convolution (Buzen, CACM 16, 1973), as exact mean value analysis has no
correct digit left where a station of several servers is saturated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

_Logs: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Station:
    """A resource that an operation needs, such as the cores."""

    name: str
    demand: float
    servers: int | None = 1
    """None: as many servers as users, so that no user waits for another (a delay)."""

    @property
    def per_server(self) -> float:
        """The demand per server, which limits throughput: D/m; 0 for a delay."""
        return self.demand / self.servers if self.servers else 0.0

    def utilisation(self, throughput: float) -> float:
        """The share of the station's servers that is busy, 0 to 1: U = X D/m."""
        return throughput * self.per_server


@dataclass(frozen=True)
class Solution:
    """The mean values of a network with `users` users."""

    users: int
    throughput: float
    response: float
    residence: tuple[float, ...]
    """The part of the response time spent at each station, waiting and being served."""


def bottleneck(stations: Sequence[Station]) -> Station:
    """The station that saturates first as the number of users grows."""
    return max(stations, key=lambda each: each.per_server)


def bound(stations: Sequence[Station], users: float) -> float:
    """The upper bound of the throughput of so many users, whatever the scheduling."""
    whole, highest = _sums(stations)
    return min(users / whole, 1 / highest) if highest else users / whole


def knee(stations: Sequence[Station]) -> float:
    """The number of users above which they must wait for each other: where the two bounds meet."""
    whole, highest = _sums(stations)
    return whole / highest if highest else math.inf


def _sums(stations: Sequence[Station]) -> tuple[float, float]:
    return sum(each.demand for each in stations), bottleneck(stations).per_server


def solve(stations: Sequence[Station], users: int) -> list[Solution]:
    """The solutions with 1, 2, … `users` users: exact where service times are exponential, or where
    stations divide their servers among all operations present (processor sharing). Raises
    ValueError without a station, user or demand."""
    if not stations or users < 1 or sum(each.demand for each in stations) <= 0:
        raise ValueError("need a station with a demand, and a user")
    weights = [_weights(each, users) for each in stations]
    whole = reduce(_convolved, weights)
    throughputs = np.exp(whole[:-1] - whole[1:])
    counts = np.concatenate([[-np.inf], np.log(np.arange(1, users + 1))])
    numbers = [
        np.exp(reduce(_convolved, [*weights[:at], counts + own, *weights[at + 1 :]]) - whole)[1:]
        for at, own in enumerate(weights)
    ]
    found = zip(throughputs.tolist(), (np.array(numbers) / throughputs).T.tolist(), strict=True)
    return [Solution(n, x, n / x, tuple(its)) for n, (x, its) in enumerate(found, start=1)]


def open_wait(station: Station, arrivals: float) -> float:
    """For an open load with random arrivals (M/M/m): the share that finds all servers busy, by
    Erlang's C; 1 where the servers cannot serve it."""
    if station.servers is None:
        return 0.0
    busy = station.utilisation(arrivals)
    if busy >= 1:
        return 1.0
    lost, offered = 1.0, arrivals * station.demand  # Erlang's B, one more server each time
    for servers in range(1, station.servers + 1):
        lost = offered * lost / (servers + offered * lost)
    return lost / (1 - busy * (1 - lost))


def _weights(station: Station, users: int) -> _Logs:
    """For 0 … `users` users at the station: ln of the product of D/min(j, m) over j."""
    if station.demand <= 0:
        return np.concatenate([[0.0], np.full(users, -np.inf)])
    j = np.arange(1, users + 1)
    at_work = j if station.servers is None else np.minimum(j, station.servers)
    return np.concatenate([[0.0], np.cumsum(math.log(station.demand) - np.log(at_work))])


def _convolved(one: _Logs, other: _Logs) -> _Logs:
    return np.array(
        [np.logaddexp.reduce(one[: n + 1] + other[n::-1]) for n in range(one.size)],
        dtype=np.float64,
    )
