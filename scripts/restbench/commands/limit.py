"""`bench-limit`: how far the services are from the practical limit."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from restbench import (
    experiment,
    limit_bench,
    limit_servers,
    machine,
    machine_lock,
    placement,
    store,
    watch,
)
from restbench.commands.options import console
from restbench.failures import EnvironmentProblem
from restbench.limit_bench import Standing
from restbench.payload import Payload, payload_of

COMPLEXITIES = ("low", "medium", "high")


def bench_limit(
    source: Annotated[Path, typer.Argument(help="The folder with the limit's limit.cpp.")],
    turns: Annotated[int, typer.Option(min=2, help="Turns of each server.")] = 7,
    seconds: Annotated[float, typer.Option(min=1.0, help="Of one turn.")] = 4.0,
) -> None:
    """CPU time per request beside the practical limit."""
    code = source / limit_servers.SOURCE
    if not code.exists():
        console.print(
            f"skipped: no {limit_servers.SOURCE} in {source}; its source is not part of this "
            "repository: give its folder with LIMIT=folder"
        )
        return
    machine_lock.take()
    limit_bench.require_client()
    cores = placement.allowed_cores()
    if len(cores) < 2:
        raise EnvironmentProblem("the limit needs a core for the server and one for the client")
    watch.end_leftovers()
    with tempfile.TemporaryDirectory(prefix="limit-", dir=watch.begin()) as name:
        folder = Path(name)
        program = limit_servers.build(code, folder)
        plan = limit_bench.Plan(turns, seconds, cores[-1], folder)
        with limit_servers.servers(program, cores[0], folder) as servers:
            found = limit_bench.measure(servers, _payloads(), plan, console.print)
    console.print(_table(found))
    console.print(
        f"CPU time of the server's processes, {turns} turns of {seconds:g} s; ratio: paired by "
        "turn, 95 % t interval; stages: medians of Server-Timing, one request at a time."
    )
    console.print(machine.one_line(machine.describe()), soft_wrap=True)


def _payloads() -> dict[str, Payload]:
    study = experiment.load(store.experiment_file("thesis"))
    return {each: payload_of(study, each) for each in COMPLEXITIES}


def _table(found: list[Standing]) -> Table:
    table = Table(title="kernel=native, serial, against the practical limit", title_justify="left")
    for heading in ("", "server"):
        table.add_column(heading)
    for heading in ("CPU ms/req", "req/CPU-s", "÷ limit", "stages ms"):
        table.add_column(heading, justify="right")
    for each in found:
        stages = " ".join(f"{name} {ms:.3g}" for name, ms in each.stages_ms.items())
        table.add_row(
            each.complexity,
            each.server,
            f"{each.cpu_ms_per_request:.3f}",
            f"{each.requests_per_cpu_s:,.0f}",
            _ratio(each),
            stages or "not told",
        )
    return table


def _ratio(each: Standing) -> str:
    if each.server == limit_servers.LIMIT:
        return "1"
    return f"{each.ratio.estimate:.2f} [{each.ratio.low:.2f}, {each.ratio.high:.2f}]"
