"""`bench-limit`: CPU time a request of the services over that of a server without a framework that
does the same work, side by side: one core for whichever is asked, another for the client, turn by
turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from restbench import cli
from restbench.commands.options import console
from restbench.drive import wrk
from restbench.drive.payload import Payload, payload_of
from restbench.drive.wrk import Client
from restbench.experiment import experiment
from restbench.experiment.statistics import Ratio, geometric_mean, paired_ratio
from restbench.failures import BadConfiguration, CellsFailed, EnvironmentProblem, Regression
from restbench.machine import machine, machine_lock, placement, watch
from restbench.show.document import Column, number, table
from restbench.show.terminal import drawn
from restbench.store import store
from restbench.store.writing import write_json
from tools import limit_servers
from tools.limit_servers import REQUEST_ID, Server, require_right

#: Where the last one lies.
KEPT = store.RESULTS / "limit.json"
COMPLEXITIES = ("low", "medium", "high")
#: What a request may cost of what it costs the limit, `serial`, kernel `native`: of a framework,
#: with its handoff where it is asynchronous.
BARS: Mapping[str, Mapping[str, float]] = {
    "servlet": {"low": 2.3, "medium": 1.1, "high": 1.2},
    "tomcat": {"low": 3.2, "medium": 1.2, "high": 1.2},
    "vertx": {"low": 1.6},
    "vertx/loop": {"low": 1.6},
    "helidon": {"low": 1.6},
    "flask": {"low": 16.0, "medium": 2.0, "high": 2.0},
    "rsgi/thread": {"low": 6.5},
    "rsgi/loop": {"low": 5.0},
}
CONNECTIONS = 4
#: A JVM compiles what it runs often, on the core of its work: until then it is measured as what
#: it will not be. So each server is warmed up until its cost a request falls no more.
WARMUP_SLICE_S = 4.0
FEWEST_WARMUP_SLICES = 3
MOST_WARMUP_SLICES = 15
#: A slice that costs less than this part of the cheapest before it: warm-up goes on.
STILL_FALLING = 0.97
#: CPU time a request, milliseconds: the limit's and, in the turn next to it, the service's.
Turn = tuple[float, float]


@dataclass(frozen=True)
class Standing:
    """A service in one framework at one complexity, over all turns."""

    framework: str
    complexity: str
    cpu_ms: float
    """Of a request, parsing and writing of HTTP included; as `limit_cpu_ms` a geometric mean."""
    limit_cpu_ms: float
    ratio: Ratio
    """Geometric mean over all turns, each paired with the limit's; the t interval is over turns."""
    of_each_service: tuple[float, ...]
    """The same of each fresh service: how far processes differ."""
    bar: float

    @property
    def verdict(self) -> str:
        """Missed only where the whole interval is above the bar."""
        return "missed" if self.ratio.low > self.bar else "held"


@dataclass(frozen=True)
class Plan:
    """How often, how long and from where."""

    services: int
    """Fresh ones of each framework."""
    turns: int
    """Of each service, and of the limit next to it."""
    turn_s: float
    core: int
    client_core: int
    folder: Path
    """For logs, bodies and the client's script."""


def measure(
    program: Path,
    frameworks: Sequence[str],
    payloads: Mapping[str, Payload],
    plan: Plan,
    tell: Callable[[str], None],
) -> tuple[list[Standing], dict[str, str]]:
    """Each framework at each complexity that has a bar; and why others, by name, could not be
    measured: one failed service is enough. WrongAnswers."""
    turns: dict[tuple[str, str], list[list[Turn]]] = {}
    failed: dict[str, str] = {}
    for nth in range(1, plan.services + 1):
        for framework in [each for each in frameworks if each not in failed]:
            try:
                with limit_servers.pair(program, framework, plan.core, plan.folder) as servers:
                    for complexity in BARS[framework]:
                        tell(f"{framework} {complexity}: service {nth} of {plan.services}")
                        found = _turns(servers, payloads[complexity], plan)
                        turns.setdefault((framework, complexity), []).append(found)
            except CellsFailed as failure:
                failed[framework] = str(failure)
                tell(f"{framework} is left out: {failure}")
    return [standing(*place, turns[place]) for place in turns if place[0] not in failed], failed


def _turns(servers: tuple[Server, Server], payload: Payload, plan: Plan) -> list[Turn]:
    body = plan.folder / "body.json"
    body.write_bytes(payload.body(REQUEST_ID))
    client = Client(body, CONNECTIONS, str(plan.client_core))
    for server in servers:
        require_right(server, payload)
        warm_up(client, server)
    found = []
    for turn in range(plan.turns):
        # each turn in the other order: what drifts does so for both alike
        order = servers if turn % 2 else servers[::-1]
        costs = {each.name: cpu_ms(client, each, plan.turn_s) for each in order}
        found.append((costs[servers[0].name], costs[servers[1].name]))
    return found


def standing(framework: str, complexity: str, of_services: Sequence[Sequence[Turn]]) -> Standing:
    """What the turns of all fresh services say together."""
    limit_ms, cpu_ms = zip(*(turn for each in of_services for turn in each), strict=True)
    return Standing(
        framework,
        complexity,
        geometric_mean(cpu_ms),
        geometric_mean(limit_ms),
        paired_ratio(cpu_ms, limit_ms),
        tuple(geometric_mean([own / limit for limit, own in each]) for each in of_services),
        BARS[framework][complexity],
    )


def cpu_ms(client: Client, server: Server, seconds: float) -> float:
    """The server's CPU time a request under load for so many seconds."""
    return client.load(server.name, server.url, seconds, server.pids).service_ms


def warm_up(client: Client, server: Server) -> None:
    """Load until a request costs no less."""
    costs: list[float] = []
    while not warmed_up(costs):
        costs.append(cpu_ms(client, server, WARMUP_SLICE_S))


def warmed_up(costs: Sequence[float]) -> bool:
    """Whether neither of the last two slices was cheaper than all before it, beyond noise."""
    if len(costs) < FEWEST_WARMUP_SLICES:
        return False
    falling = (costs[i] < STILL_FALLING * min(costs[:i]) for i in (-2, -1))
    return len(costs) >= MOST_WARMUP_SLICES or not any(falling)


def bench_limit(
    frameworks: Annotated[
        list[str] | None, typer.Option("--framework", help="One of these alone; repeatable.")
    ] = None,
    services: Annotated[int, typer.Option(min=1, help="Fresh ones of each framework.")] = 3,
    turns: Annotated[int, typer.Option(min=2, help="Turns of each fresh service.")] = 5,
    seconds: Annotated[float, typer.Option(min=1.0, help="Of one turn.")] = 4.0,
) -> None:
    """CPU time a request over that of the practical limit. Only a run of all frameworks is kept."""
    chosen = available(frameworks, console.print)
    machine_lock.take()
    wrk.require()
    cores = placement.allowed_cores()
    if len(cores) < 2:
        raise EnvironmentProblem("the limit needs a core for the server and one for the client")
    watch.end_leftovers()
    study = experiment.load(store.experiment_file("thesis"))
    payloads = {each: payload_of(study, each) for each in COMPLEXITIES}
    plan = Plan(services, turns, seconds, cores[0], cores[-1], watch.begin())
    program = limit_servers.compiled(limit_servers.SOURCE, plan.folder)
    found, failed = measure(program, chosen, payloads, plan, console.print)
    described = machine.describe()
    standings = [asdict(each) | {"verdict": each.verdict} for each in found]
    asked = {"services": services, "turns": turns, "turn_s": seconds}
    is_kept = bool(found) and not frameworks
    if is_kept:
        write_json(KEPT, {"machine": described, "plan": asked, "standings": standings})
    shown = table("CPU time a request over the practical limit's", _COLUMNS, found)
    console.print(drawn(shown, ("",)))
    console.print(
        f"CPU time of the server's processes, kernel native, serial; {services * turns} turns of "
        f"{seconds:g} s over {services} fresh services, each next to a turn of the limit; ratio: "
        "geometric mean, 95 % t interval over turns, on logarithms. Missed: the whole interval is "
        "above the bar."
    )
    console.print(machine.one_line(described), soft_wrap=True)
    console.print(f"kept in {KEPT}" if is_kept else "not kept", soft_wrap=True)
    judge(found)
    if failed:
        raise CellsFailed("; ".join(failed.values()))


def available(named: Sequence[str] | None, tell: Callable[[str], None]) -> list[str]:
    """The frameworks to measure: those that were named, else all that can run here; each other one
    is told. BadConfiguration where a named one is unknown or cannot run here."""
    found = []
    for each in named or BARS:
        if each not in BARS:
            raise BadConfiguration(f"--framework {each}: must be one of {', '.join(BARS)}")
        lack = limit_servers.why_unavailable(each)
        if lack and named:
            raise BadConfiguration(f"--framework {lack}")
        if lack:
            tell(f"left out: {lack}")
        else:
            found.append(each)
    return found


def judge(found: list[Standing]) -> None:
    """Regression where a whole interval is above its bar."""
    missed = [each for each in found if each.verdict == "missed"]
    if missed:
        places = "; ".join(f"{each.framework} {each.complexity} {_ratio(each)}" for each in missed)
        raise Regression(f"{len(missed)} of {len(found)} cost more than they may: {places}")


def _ratio(each: Standing) -> str:
    return f"{each.ratio.estimate:.2f} [{each.ratio.low:.2f}, {each.ratio.high:.2f}]"


_COLUMNS: Sequence[Column[Standing]] = (
    Column("", lambda each: each.complexity),
    Column("framework", lambda each: each.framework),
    number("CPU ms", lambda each: f"{each.cpu_ms:.3f}"),
    number("limit's", lambda each: f"{each.limit_cpu_ms:.3f}"),
    number("ratio", _ratio),
    number("each service", lambda it: " ".join(f"{ratio:.2f}" for ratio in it.of_each_service)),
    number("bar", lambda each: f"{each.bar:g}"),
    Column("", lambda each: each.verdict),
)


if __name__ == "__main__":
    cli.main(cli.single_command_app(bench_limit))
