"""`make overload`: presses the services far beyond normal use, and reports which promises held."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from restbench import cli
from restbench.experiment.cell import Front, ServiceName
from restbench.failures import BadConfiguration
from restbench.machine import machine_lock, watch

from . import scenarios
from .large import BODIES, weighed
from .promises import Findings, broken, table
from .scenarios import LEAST_CONNECTIONS, POOLS, Force
from .subject import Subject, started

console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
BESIEGERS = (300, 600)
SIEGE_S = 10.0
#: Shorter than the default, which suits slow but honest clients: the scenario would last too long.
SHORT_TIMEOUTS = {"RESTBENCH_RECEIVE_TIMEOUT_SECONDS": "3"}
#: Strategies that run the stages of a request, and therefore free resources, in different ways.
SLOW = {"java": ("serial", "pinned", "pipeline"), "python": ("serial", "process-per-request")}
#: In Python `serial` computes in one place for all requests, the other in a process per core.
LARGE = {"java": ("serial",), "python": ("serial", "process-per-request")}
#: An envelope needs eight times its size in memory: the default budget would refuse it unread.
LARGE_SETTINGS = {"java": {"RESTBENCH_MEMORY_BUDGET_BYTES": str(720 << 20)}, "python": {}}
STOPPED = {"java": ("thread-pool", "pinned"), "python": ("serial", "process-per-request")}

Task = Callable[[Subject], Coroutine[Any, Any, Findings]]
Service = tuple[str, dict[str, str], list[Task]]
"""A service to start: the name of its folder, its settings, and the tasks to run on it in order."""


def services(
    name: ServiceName, offered: Iterable[str], strategy: str, scenario: str, force: Force
) -> Iterator[Service]:
    """The services that the scenarios need; `strategy` and `scenario` are names or `all`."""
    tasks: list[Task]

    def wanted(kind: str, strategies: Iterable[str]) -> list[str]:
        asked_for = [each for each in strategies if strategy in (each, "all")]
        return asked_for if scenario in (kind, "all") else []

    for each in wanted("flood", offered):
        yield f"flood-{each}", {}, [partial(scenarios.overloaded, strategy=each, force=force)]
    if scenario in ("slow", "all"):
        tasks = [partial(scenarios.endured, strategy=each) for each in wanted("slow", SLOW[name])]
        siege = partial(scenarios.besieged, strategy="serial", seconds=SIEGE_S)
        tasks += [partial(siege, number=number) for number in BESIEGERS]
        yield "slow", SHORT_TIMEOUTS, tasks
    if pools := wanted("kill", POOLS if name == "python" else ()):
        tasks = [partial(scenarios.pool_killed, strategy=each, force=force) for each in pools]
        yield "kill", {}, tasks
    for each in wanted("large", LARGE[name]):
        bodies = [body for body in BODIES if name == "java" or not body.soap]
        tasks = [partial(weighed, strategy=each, large=body) for body in bodies]
        yield f"large-{each}", LARGE_SETTINGS[name], tasks
    for each in wanted("stop", STOPPED[name]):
        yield f"stop-{each}", {}, [partial(scenarios.stopped, strategy=each)]


def carried_out(  # noqa: PLR0913, PLR0917 - the options of the command
    name: ServiceName, front: Front, strategy: str, scenario: str, force: Force, folder: Path
) -> Iterator[Findings]:
    """Run all tasks, one service after the other; yield the findings. Raises BadConfiguration for
    an unknown strategy."""
    with started(name, front, folder / "asked") as subject:
        offered = subject.service.strategies()
    if strategy not in (*offered, "all"):
        raise BadConfiguration(f"{name} has no strategy {strategy}: {', '.join(offered)}, all")
    for place, settings, tasks in services(name, offered, strategy, scenario, force):
        with started(name, front, folder / place, settings) as subject:
            for task in tasks:
                yield asyncio.run(task(subject))


def overload(  # noqa: PLR0913, PLR0917 - one parameter per option
    service: Annotated[Literal["java", "python", "both"], typer.Option()] = "both",
    front: Annotated[
        Literal["nginx", "haproxy"], typer.Option(help="what stands before it")
    ] = "nginx",
    strategy: Annotated[str, typer.Option(help="a strategy's name, or all")] = "all",
    scenario: Annotated[
        Literal["flood", "slow", "kill", "large", "stop", "all"], typer.Option()
    ] = "all",
    seconds: Annotated[float, typer.Option(min=1, help="of load, each strategy")] = 60.0,
    connections: Annotated[int, typer.Option(min=LEAST_CONNECTIONS, help="at once")] = 1000,
    kills: Annotated[int, typer.Option(min=1, help="of each kind of process")] = 20,
    seed: Annotated[int, typer.Option(help="of bodies, victims and pauses")] = 1,
) -> None:
    """A flood, slow and vanished clients, kill -9, large bodies, SIGTERM, all through a front: what
    was promised, what was seen. Exit code 1 where a promise did not hold.

    The ports are JAVA_PORT and PYTHON_PORT.
    """
    machine_lock.take()
    names: list[ServiceName] = ["java", "python"] if service == "both" else [service]
    force = Force(seconds, connections, kills, seed)
    number = 0
    missed: list[str] = []
    for name in names:
        of_it = carried_out(name, front, strategy, scenario, force, watch.begin() / name)
        for findings in of_it:
            console.print(table(findings))
            number += len(findings.promises)
            missed += [f"{findings.subject}: {it}" for it in broken(findings.promises, front)]
    if missed:
        console.print("\n".join(missed), style="bold red", markup=False)
        were = "was" if len(missed) == 1 else "were"
        told = f"{len(missed)} of {number} promises {were} NOT as expected"
        console.print(told, style="bold red")
        raise typer.Exit(1)
    console.print(f"all {number} promises held", style="green")


if __name__ == "__main__":
    cli.main(cli.single_command_app(overload))
