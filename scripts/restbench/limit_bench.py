"""CPU time per request of servers that do the same work, side by side: one core for whichever is
asked, another for the client, turn by turn."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from restbench import process
from restbench.failures import CellsFailed, EnvironmentProblem
from restbench.limit_servers import LIMIT, REQUEST_ID, Server, require_right, stages_ms
from restbench.payload import Payload
from restbench.statistics import Ratio, geometric_mean, paired_ratio

CONNECTIONS = 4
#: A response that takes longer is an error; of wrk's own two seconds a busy machine makes many.
PATIENCE = "60s"
#: A JVM compiles what it runs often, on one core beside its work: until then it is measured as what
#: it will not be. So each server is warmed up until its cost a request falls no more.
WARMUP_SLICE_S = 4.0
FEWEST_WARMUP_SLICES = 3
MOST_WARMUP_SLICES = 15
#: A slice that costs less than this part of the cheapest before it: warm-up goes on.
STILL_FALLING = 0.97
STAGE_REQUESTS = 51
#: What the client sends, the way it takes it: a method, a type and a file as the body.
SCRIPT = """\
local file = io.open(os.getenv("RESTBENCH_BODY"), "rb")
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "application/json"
file:close()
"""


@dataclass(frozen=True)
class Slice:
    """What one server did in one turn."""

    server: str
    complexity: str
    requests: int
    cpu_ms: float

    @property
    def cpu_ms_per_request(self) -> float:
        """CPU time of the server, parsing and writing of HTTP included."""
        return self.cpu_ms / self.requests

    @property
    def requests_per_cpu_s(self) -> float:
        """What one core could do if nothing kept it waiting."""
        return 1000 * self.requests / self.cpu_ms


@dataclass(frozen=True)
class Standing:
    """One server at one complexity, over all turns."""

    server: str
    complexity: str
    cpu_ms_per_request: float
    requests_per_cpu_s: float
    ratio: Ratio
    """CPU time per request over the limit's, paired by turn."""
    stages_ms: Mapping[str, float]


def require_client() -> None:
    """EnvironmentProblem without wrk."""
    if shutil.which("wrk") is None:
        raise EnvironmentProblem("wrk is missing: apt-get install wrk")


@dataclass(frozen=True)
class Plan:
    """How long and from where."""

    turns: int
    turn_s: float
    client_core: int
    folder: Path
    """For bodies and the client's script."""


def measure(
    servers: Sequence[Server],
    payloads: Mapping[str, Payload],
    plan: Plan,
    tell: Callable[[str], None],
) -> list[Standing]:
    """Every server at each complexity, the limit first. WrongAnswers, CellsFailed."""
    found = []
    for complexity, payload in payloads.items():
        client = _client(complexity, payload, plan)
        for server in servers:
            require_right(server, payload)
            client.warm_up(server, complexity)
        slices: dict[str, list[Slice]] = {server.name: [] for server in servers}
        for turn in range(plan.turns):
            tell(f"{complexity}: turn {turn + 1} of {plan.turns}")
            # each turn in the other order: what drifts does so for all alike
            for server in servers if turn % 2 else reversed(servers):
                slices[server.name].append(client.slice(server, complexity, plan.turn_s))
        stages = {each.name: stages_ms(each, payload, STAGE_REQUESTS) for each in servers}
        found += standings(slices, stages)
    return found


def _client(complexity: str, payload: Payload, plan: Plan) -> Client:
    body = plan.folder / f"{complexity}.json"
    body.write_bytes(payload.body(REQUEST_ID))
    return Client(body, plan.client_core, plan.folder)


def standings(
    slices: Mapping[str, Sequence[Slice]], stages: Mapping[str, Mapping[str, float]]
) -> list[Standing]:
    """What the turns say together, of the limit first."""
    limit = [each.cpu_ms_per_request for each in slices[LIMIT]]
    found = []
    for name, turns in slices.items():
        cpu_ms = [each.cpu_ms_per_request for each in turns]
        middle_ms = geometric_mean(cpu_ms)
        ratio = paired_ratio(cpu_ms, limit)
        complexity = turns[0].complexity
        found.append(Standing(name, complexity, middle_ms, 1000 / middle_ms, ratio, stages[name]))
    return found


@dataclass(frozen=True)
class Client:
    """wrk with one body, on a core of its own."""

    body: Path
    core: int
    folder: Path
    connections: int = CONNECTIONS

    def slice(self, server: Server, complexity: str, seconds: float) -> Slice:
        """Load for so many seconds, and the server's CPU time for it."""
        before_ms = server.cpu_ms()
        requests = self.load(server, seconds)
        return Slice(server.name, complexity, requests, server.cpu_ms() - before_ms)

    def warm_up(self, server: Server, complexity: str) -> list[float]:
        """Load until it is over; what a request cost in each slice of it, CPU ms."""
        costs: list[float] = []
        while not warmed_up(costs):
            found = self.slice(server, complexity, WARMUP_SLICE_S)
            costs.append(found.cpu_ms_per_request)
        return costs

    def load(self, server: Server, seconds: float) -> int:
        """The requests that were answered. CellsFailed where one was not, or not with 200."""
        return answered(server.name, self.told(server, seconds))

    def told(self, server: Server, seconds: float) -> str:
        """What wrk prints of a load for so many seconds, of one at least."""
        script = self.folder / "post.lua"
        script.write_text(SCRIPT, encoding="utf-8")
        duration = f"{max(1, round(seconds))}s"
        command = ["wrk", "-t1", f"-c{self.connections}", "-d", duration, "-s", str(script)]
        command += ["--timeout", PATIENCE]
        done = subprocess.run(
            process.bound_to_us([*command, server.url], str(self.core)),
            env={**os.environ, "RESTBENCH_BODY": str(self.body)},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr


def warmed_up(costs: Sequence[float]) -> bool:
    """Whether neither of the last two slices was cheaper than all before it, beyond noise."""
    if len(costs) < FEWEST_WARMUP_SLICES:
        return False
    falling = (costs[i] < STILL_FALLING * min(costs[:i]) for i in (-2, -1))
    return len(costs) >= MOST_WARMUP_SLICES or not any(falling)


def answered(server: str, told: str) -> int:
    """The number of requests in wrk's own words. CellsFailed where it tells of errors."""
    wrong = re.search(r"Non-2xx.*|Socket errors.*", told)
    found = re.search(r"(\d+) requests in", told)
    if wrong or not found or not int(found[1]):
        raise CellsFailed(f"{server}: {wrong[0] if wrong else told.strip()[:200]}")
    return int(found[1])
