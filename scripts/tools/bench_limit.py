"""`bench-limit`: what a request costs over what a server without a framework takes for it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from restbench import cli
from restbench.commands.options import console
from restbench.drive import wrk
from restbench.drive.payload import payload_of
from restbench.experiment import experiment
from restbench.failures import BadConfiguration, EnvironmentProblem, LimitMissed
from restbench.machine import machine, machine_lock, placement, watch
from restbench.show.document import Column, number, table
from restbench.show.terminal import drawn
from restbench.store import store
from restbench.store.writing import write_json
from tools import limit_bench, limit_servers
from tools.limit_bench import BARS, Standing

#: Where the last one lies.
KEPT = store.RESULTS / "limit.json"
COMPLEXITIES = ("low", "medium", "high")


def bench_limit(
    frameworks: Annotated[
        list[str] | None, typer.Option("--framework", help="One of these alone; repeatable.")
    ] = None,
    services: Annotated[int, typer.Option(min=1, help="Fresh ones of each framework.")] = 3,
    turns: Annotated[int, typer.Option(min=2, help="Turns of each fresh service.")] = 5,
    seconds: Annotated[float, typer.Option(min=1.0, help="Of one turn.")] = 4.0,
) -> None:
    """CPU time a request over that of the practical limit."""
    chosen = frameworks or list(BARS)
    if unknown := [each for each in chosen if each not in BARS]:
        raise BadConfiguration(f"--framework {unknown[0]}: must be one of {', '.join(BARS)}")
    machine_lock.take()
    wrk.require()
    cores = placement.allowed_cores()
    if len(cores) < 2:
        raise EnvironmentProblem("the limit needs a core for the server and one for the client")
    watch.end_leftovers()
    study = experiment.load(store.experiment_file("thesis"))
    payloads = {each: payload_of(study, each) for each in COMPLEXITIES}
    with tempfile.TemporaryDirectory(prefix="limit-", dir=watch.begin()) as name:
        plan = limit_bench.Plan(services, turns, seconds, cores[0], cores[-1], Path(name))
        program = limit_servers.build(plan.folder)
        found = limit_bench.measure(program, chosen, payloads, plan, console.print)
    described = machine.describe()
    standings = [asdict(each) | {"verdict": each.verdict} for each in found]
    asked = {"services": services, "turns": turns, "turn_s": seconds}
    write_json(KEPT, {"machine": described, "plan": asked, "standings": standings})
    shown = table("CPU time a request over the practical limit's", _COLUMNS, found)
    console.print(drawn(shown, wraps=False))
    console.print(
        f"CPU time of the server's processes, kernel native, serial; {services * turns} turns of "
        f"{seconds:g} s over {services} fresh services, each next to a turn of the limit; ratio: "
        "geometric mean, 95 % t interval over turns, on logarithms. Missed: the whole interval is "
        "above the bar."
    )
    console.print(machine.one_line(described), soft_wrap=True)
    console.print(f"kept in {KEPT}", soft_wrap=True)
    judge(found)


def judge(found: list[Standing]) -> None:
    """LimitMissed where a whole interval is above its bar."""
    missed = [each for each in found if each.verdict == "missed"]
    if missed:
        places = "; ".join(f"{each.framework} {each.complexity} {_ratio(each)}" for each in missed)
        raise LimitMissed(f"{len(missed)} of {len(found)} cost more than they may: {places}")


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
    cli.main(cli.alone(bench_limit))
