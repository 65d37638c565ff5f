"""How the stages of a request grow, as the services tell them, one request after the other; and how
a strategy bears more users: their latency and the throughput.

Not the memory: a JVM of a fixed heap and a Python that keeps what it has freed give nothing back,
so that after the first load of the most users every later one sees the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from restbench.drive.payload import Payload, make_payload, payload_of
from restbench.drive.wrk import Client, answered, seconds_of
from restbench.experiment import experiment
from restbench.experiment.cell import Shape
from restbench.store import store
from tools import limit_servers
from tools.growth_fit import Series
from tools.growth_plan import Plan, Sweep
from tools.limit_servers import REQUEST_ID, Server

SEED, ELEMENT_MIN, ELEMENT_MAX = 2019, 0, 50
#: A round's value is the median of so many requests: one that met something else does not decide.
REQUESTS = 3
#: Before the first request at a size that counts: a JVM compiles what it runs often.
WARMUP_REQUESTS, WARMUP_OPERATIONS = 50, 50_000_000
#: Of the loads of many users.
COMPLEXITY = "low"
#: A mean of fewer is none.
ANSWERS_A_USER = 3
LONGEST_S = 16.0
#: The largest exponent that is right over the users of a closed loop: latency in proportion to
#: them, the throughput flat.
QUANTITIES = {"latency": 1.0, "1/throughput": 0.0}


def of_stages(server: Server, sweep: Sweep, rounds: int) -> list[Series]:
    """A series a stage, in milliseconds. Rounds go through all sizes: what drifts does so for all
    alike. WrongAnswers, CellsFailed."""
    payloads = [payload(shape) for shape in sweep.shapes]
    for each in payloads:
        warm_up(server, each)
    known = [
        [limit_servers.stages_ms(server, each, REQUESTS) for each in payloads]
        for _ in range(rounds)
    ]
    return [
        Series(
            server=server.name,
            what=f"{stage}, {sweep.name}",
            over=sweep.over,
            expected=expected,
            sizes=sweep.sizes,
            rounds=tuple(tuple(each[stage] for each in values) for values in known),
        )
        for stage, expected in sweep.expected.items()
    ]


def dispatch_ms(server: Server, shape: Shape, rounds: int) -> list[float]:
    """The time that a request waits and computes, in each round. WrongAnswers, CellsFailed."""
    asked = payload(shape)
    warm_up(server, asked)
    looks = [limit_servers.stages_ms(server, asked, REQUESTS) for _ in range(rounds)]
    return [each["queue"] + each["compute"] for each in looks]


def payload(shape: Shape) -> Payload:
    """A request of that size."""
    return make_payload(shape, SEED, ELEMENT_MIN, ELEMENT_MAX)


def warm_up(server: Server, asked: Payload) -> None:
    """See that it answers right, and ask a small size often; a large one is compiled within."""
    limit_servers.require_right(server, asked)
    enough = WARMUP_OPERATIONS // asked.work
    limit_servers.stages_ms(server, asked, max(1, min(WARMUP_REQUESTS, enough)))


def over_processes(name: str, counts: Sequence[int], by_count: Sequence[Sequence[float]]) -> Series:
    """What dispatch takes with so many processes in a pool; `by_count` has the rounds of each."""
    return Series(
        server=name,
        what="queue and compute, dispatch",
        over="processes",
        expected=1.0,
        sizes=tuple(counts),
        rounds=tuple(zip(*by_count, strict=True)),
    )


def of_users(server: Server, client: Client, plan: Plan) -> list[Series]:
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
            what=f"{name}, {COMPLEXITY}",
            over="users",
            expected=expected,
            sizes=plan.users,
            rounds=tuple(tuple(each[name] for each in values) for values in counted),
        )
        for name, expected in QUANTITIES.items()
    ]


def _look(server: Server, client: Client, seconds: float) -> dict[str, float]:
    """What a load saw, in milliseconds: its mean latency, and the time of the wall clock for a
    request. A longer one, where too few were answered in it: what is slow takes its time."""
    output = client.output(server.url, seconds)
    while requests_in(output) < ANSWERS_A_USER * client.connections and seconds < LONGEST_S:
        seconds *= 2
        output = client.output(server.url, seconds)
    per_request_s = seconds_of(server.name, output) / answered(server.name, output)
    latency_s = seconds_of(server.name, output, "Latency")
    return {"latency": 1000 * latency_s, "1/throughput": 1000 * per_request_s}


def requests_in(output: str) -> int:
    """How many were answered, in wrk's own words."""
    found = re.search(r"(\d+) requests in", output)
    return int(found[1]) if found else 0
