"""How a strategy bears more users: their latency and the throughput.

Not the memory: a JVM of a fixed heap and a Python that keeps what it has freed give nothing back,
so that after the first load of the most users every later one sees the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from restbench.drive.payload import payload_of
from restbench.drive.wrk import answered, seconds_of
from restbench.experiment import experiment
from restbench.store import store
from tools.growth_fit import Series
from tools.growth_plan import Plan
from tools.limit_bench import Client
from tools.limit_servers import REQUEST_ID, Server

COMPLEXITY = "low"
#: A mean of fewer is none.
ANSWERS_A_USER = 3
LONGEST_S = 16.0


@dataclass(frozen=True)
class Looked:
    """What a load of so many users saw."""

    latency_ms: float
    """Mean."""
    per_request_ms: float
    """Of the wall clock: one over the throughput."""


#: Of each quantity its words, and the largest exponent that is right over the users of a closed
#: loop: latency in proportion to them, the throughput flat.
QUANTITIES = {"latency_ms": ("latency", 1.0), "per_request_ms": ("1/throughput", 0.0)}


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
            expected=expected,
            sizes=plan.users,
            rounds=tuple(tuple(getattr(each, name) for each in values) for values in counted),
        )
        for name, (words, expected) in QUANTITIES.items()
    ]


def _look(server: Server, client: Client, seconds: float) -> Looked:
    """A load, and a longer one where too few were answered in it: what is slow takes its time."""
    output = client.output(server, seconds)
    while requests_in(output) < ANSWERS_A_USER * client.connections and seconds < LONGEST_S:
        seconds *= 2
        output = client.output(server, seconds)
    per_request_s = seconds_of(server.name, output) / answered(server.name, output)
    return Looked(1000 * seconds_of(server.name, output, "Latency"), 1000 * per_request_s)


def requests_in(output: str) -> int:
    """How many were answered, in wrk's own words."""
    found = re.search(r"(\d+) requests in", output)
    return int(found[1]) if found else 0
