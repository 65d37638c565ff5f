"""How a strategy bears more users: their latency, the throughput, and the service's memory."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace

import psutil

from restbench import experiment, process, store
from restbench.failures import CellsFailed
from restbench.growth_fit import Series
from restbench.growth_plan import Plan
from restbench.limit_bench import Client, answered
from restbench.limit_servers import REQUEST_ID, Server
from restbench.payload import payload_of

COMPLEXITY = "low"
#: A mean of fewer is none.
ANSWERS_A_USER = 3
LONGEST_S = 16.0
_UNITS_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


@dataclass(frozen=True)
class Looked:
    """What a load of so many users saw."""

    latency_ms: float
    """Mean."""
    per_request_ms: float
    """Of the wall clock: one over the throughput."""
    memory_mib: float
    """Resident, of all processes of the service, at the end of the load."""


#: The largest exponent of each that is right, over the users of a closed loop: latency in
#: proportion to them, the throughput flat, and no more memory a user the more there are.
EXPECTED = {"latency_ms": 1.0, "per_request_ms": 0.0, "memory_mib": 1.0}
WORDS = {
    "latency_ms": "latency",
    "per_request_ms": "1/throughput",
    "memory_mib": "memory",
}


def measure(server: Server, client: Client, plan: Plan) -> list[Series]:
    """A series of each quantity. CellsFailed where a request is not answered."""
    study = experiment.load(store.experiment_file("thesis"))
    client.body.write_bytes(payload_of(study, COMPLEXITY).body(REQUEST_ID))
    looked = [
        [_look(server, replace(client, connections=each), plan.user_s) for each in plan.users]
        for _ in range(1 + plan.user_rounds)
    ]
    counted = looked[1:]  # the first round warms up
    return [
        Series(
            server=server.name,
            what=f"{words}, {COMPLEXITY}",
            over="users",
            expected=EXPECTED[name],
            sizes=plan.users,
            rounds=tuple(tuple(getattr(each, name) for each in values) for values in counted),
        )
        for name, words in WORDS.items()
    ]


def _look(server: Server, client: Client, seconds: float) -> Looked:
    """A load, and a longer one where too few were answered in it: what is slow takes its time."""
    told = client.told(server, seconds)
    while requests_in(told) < ANSWERS_A_USER * client.connections and seconds < LONGEST_S:
        seconds *= 2
        told = client.told(server, seconds)
    per_request_ms = told_ms("requests in", told) / answered(server.name, told)
    return Looked(told_ms("Latency", told), per_request_ms, _memory_mib(server))


def requests_in(told: str) -> int:
    """How many were answered, in wrk's own words."""
    found = re.search(r"(\d+) requests in", told)
    return int(found[1]) if found else 0


def told_ms(words: str, told: str) -> float:
    """The time behind these words of wrk's: `Latency   635.91us ...`, `99 requests in 1.01s`.

    CellsFailed without it.
    """
    found = re.search(rf"{words}\s+([0-9.]+)(us|ms|s|m)\b", told)
    if not found:
        raise CellsFailed(f"no {words} was told: {told.strip()[:200]}")
    return float(found[1]) * _UNITS_MS[found[2]]


def _memory_mib(server: Server) -> float:
    total = 0
    for pid in process.tree(server.running.pid):
        with suppress(psutil.NoSuchProcess):
            total += psutil.Process(pid).memory_info().rss
    return total / 2**20
