"""CPU time a request of the services over that of a server without a framework that does the same
work, side by side: one core for whichever is asked, another for the client, turn by turn."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from restbench import limit_servers, process
from restbench.failures import CellsFailed, EnvironmentProblem
from restbench.limit_servers import REQUEST_ID, Server, require_right, stages_ms
from restbench.payload import Payload
from restbench.statistics import Ratio, geometric_mean, paired_ratio

#: What a request may cost of what it costs the limit, `serial`, kernel `native`.
BARS: Mapping[str, Mapping[str, float]] = {
    "servlet": {"low": 2.3, "medium": 1.1, "high": 1.2},
    "tomcat": {"low": 3.2, "medium": 1.2, "high": 1.2},
    "flask": {"low": 16.0, "medium": 2.0, "high": 2.0},
}
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


@dataclass(frozen=True)
class Standing:
    """A service in one framework at one complexity, over all turns."""

    framework: str
    complexity: str
    cpu_ms_per_request: float
    limit_cpu_ms_per_request: float
    ratio: Ratio
    """CPU time a request over the limit's: geometric mean over all turns, paired with the limit's
    turn next to it; the t interval is over turns."""
    of_each_service: tuple[float, ...]
    """The same of each fresh service: how far processes differ."""
    bar: float
    stages_ms: Mapping[str, float]

    @property
    def verdict(self) -> str:
        """Missed only where the whole interval is above the bar."""
        return "missed" if self.ratio.low > self.bar else "held"


def require_client() -> None:
    """EnvironmentProblem without wrk."""
    if shutil.which("wrk") is None:
        raise EnvironmentProblem("wrk is missing: apt-get install wrk")


@dataclass(frozen=True)
class Plan:
    """How often, how long and from where."""

    services: int
    """Fresh ones of each framework."""
    turns: int
    """Of each service, and of the limit beside it."""
    turn_s: float
    core: int
    client_core: int
    folder: Path
    """For logs, bodies and the client's script."""


#: A turn of the limit and the service's next to it.
Turn = tuple[Slice, Slice]


def measure(
    program: Path, payloads: Mapping[str, Payload], plan: Plan, tell: Callable[[str], None]
) -> list[Standing]:
    """Every framework at each complexity. WrongAnswers, CellsFailed."""
    turns: dict[tuple[str, str], list[list[Turn]]] = {}
    stages: dict[tuple[str, str], Mapping[str, float]] = {}
    for number in range(plan.services):
        for framework in BARS:
            with limit_servers.pair(program, framework, plan.core, plan.folder) as servers:
                for complexity, payload in payloads.items():
                    tell(f"{framework} {complexity}: service {number + 1} of {plan.services}")
                    place = framework, complexity
                    turns.setdefault(place, []).append(_turns(servers, complexity, payload, plan))
                    stages[place] = stages_ms(servers[1], payload, STAGE_REQUESTS)
    return [standing(*place, turns[place], stages[place]) for place in turns]


def _turns(
    servers: tuple[Server, Server], complexity: str, payload: Payload, plan: Plan
) -> list[Turn]:
    body = plan.folder / f"{complexity}.json"
    body.write_bytes(payload.body(REQUEST_ID))
    client = Client(body, plan.client_core, plan.folder)
    for server in servers:
        require_right(server, payload)
        client.warm_up(server, complexity)
    found = []
    for turn in range(plan.turns):
        # each turn in the other order: what drifts does so for both alike
        order = servers if turn % 2 else servers[::-1]
        by_name = {each.name: client.slice(each, complexity, plan.turn_s) for each in order}
        found.append((by_name[servers[0].name], by_name[servers[1].name]))
    return found


def standing(
    framework: str,
    complexity: str,
    of_services: Sequence[Sequence[Turn]],
    stages: Mapping[str, float],
) -> Standing:
    """What the turns of all fresh services say together."""

    def ratio(turns: Sequence[Turn]) -> Ratio:
        limits, services = zip(*turns, strict=True)
        return paired_ratio(
            [each.cpu_ms_per_request for each in services],
            [each.cpu_ms_per_request for each in limits],
        )

    turns = [turn for each in of_services for turn in each]
    return Standing(
        framework,
        complexity,
        geometric_mean([service.cpu_ms_per_request for _, service in turns]),
        geometric_mean([limit.cpu_ms_per_request for limit, _ in turns]),
        ratio(turns),
        tuple(ratio(each).estimate for each in of_services),
        BARS[framework][complexity],
        stages,
    )


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
