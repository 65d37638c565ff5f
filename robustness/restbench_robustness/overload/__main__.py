"""`make overload`: presses the services harder than anybody should, and says what held."""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from restbench.experiment.cell import ServiceName
from restbench.failures import BadConfiguration, Failure

from .promises import Findings, Promise, broken, table
from .scenarios import Force, besieged, endured, overloaded, pool_killed, stopped
from .subject import started

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
CAPACITY_S = 4.0
USERS = 10
BESIEGERS = (300, 600)
SIEGE_S = 10.0
#: So that a person need not wait for the defaults, which are made for slow but honest clients.
SHORT_TIMEOUTS = {"RESTBENCH_RECEIVE_TIMEOUT_SECONDS": "3"}
#: Where the stages of a request run differently enough to free things differently.
SLOW = {"java": ("serial", "pinned", "pipeline"), "python": ("serial", "process-per-request")}
#: The names of a pool's processes in the kernel begin so.
POOLS = {
    "process-per-request": "PR-",
    "process-per-element": "PE-",
    "executor-per-request": "ER-",
    "executor-per-element": "EE-",
}
STOPPED = {"java": ("thread-pool", "pinned"), "python": ("serial", "process-per-request")}


@dataclass(frozen=True)
class Wanted:
    """What to look at. `strategy` is a name or `all`."""

    service: ServiceName
    strategy: str
    force: Force
    folder: Path

    def asks_for(self, strategy: str) -> bool:
        """Whether this one is to be looked at."""
        return self.strategy in ("all", strategy)


def flood(wanted: Wanted) -> Iterator[Findings]:
    """Far more than it can do under each strategy, each on a fresh service."""
    with started(wanted.service, wanted.folder / "asked") as subject:
        offered = subject.service.strategies()
    if wanted.strategy not in (*offered, "all"):
        raise BadConfiguration(
            f"{wanted.service} has no strategy {wanted.strategy}: {', '.join(offered)}, all"
        )
    for strategy in filter(wanted.asks_for, offered):
        with started(wanted.service, wanted.folder / f"flood-{strategy}") as subject:
            yield asyncio.run(overloaded(subject, strategy, wanted.force))


def slow(wanted: Wanted) -> Iterator[Findings]:
    """Slow, silent and vanished clients, some of each kind, then hundreds of one."""
    with started(wanted.service, wanted.folder / "slow", SHORT_TIMEOUTS) as subject:
        for strategy in filter(wanted.asks_for, SLOW[wanted.service]):
            yield asyncio.run(endured(subject, strategy))
        for number in BESIEGERS:
            yield asyncio.run(besieged(subject, "serial", number, SIEGE_S))


def kill(wanted: Wanted) -> Iterator[Findings]:
    """kill -9 of the processes of Python's pools."""
    if wanted.service == "python":
        with started("python", wanted.folder / "kill") as subject:
            for strategy in filter(wanted.asks_for, POOLS):
                yield asyncio.run(pool_killed(subject, strategy, POOLS[strategy], wanted.force))


def stop(wanted: Wanted) -> Iterator[Findings]:
    """Signals that end a service in order."""
    for strategy in filter(wanted.asks_for, STOPPED[wanted.service]):
        with started(wanted.service, wanted.folder / f"stop-{strategy}") as subject:
            yield asyncio.run(stopped(subject, strategy))


SCENARIOS = {"flood": flood, "slow": slow, "kill": kill, "stop": stop}


@app.command()
def overload(  # noqa: PLR0913, PLR0917 - an option each
    service: Annotated[Literal["java", "python", "both"], typer.Option()] = "both",
    strategy: Annotated[str, typer.Option(help="a strategy's name, or all")] = "all",
    scenario: Annotated[Literal["flood", "slow", "kill", "stop", "all"], typer.Option()] = "all",
    seconds: Annotated[float, typer.Option(min=1, help="of load, each strategy")] = 60.0,
    connections: Annotated[int, typer.Option(min=1, help="at once")] = 1000,
    kills: Annotated[int, typer.Option(min=1, help="of each kind of process")] = 20,
    seed: Annotated[int, typer.Option(help="of bodies, victims and pauses")] = 1,
) -> None:
    """A flood, slow and vanished clients, kill -9, SIGTERM, all through nginx: what
    was promised, what was seen. Exit code 1 where a promise did not hold.

    The ports are JAVA_PORT and PYTHON_PORT.
    """
    services: list[ServiceName] = ["java", "python"] if service == "both" else [service]
    promises: list[Promise] = []
    with tempfile.TemporaryDirectory(prefix="restbench-overload-") as folder:
        for name in services:
            force = Force(seconds, connections, CAPACITY_S, kills, USERS, seed)
            wanted = Wanted(name, strategy, force, Path(folder) / name)
            for key, carry_out in SCENARIOS.items():
                for findings in carry_out(wanted) if scenario in (key, "all") else ():
                    promises += findings.promises
                    console.print(table(findings.promises))
    missed = broken(promises)
    if missed:
        console.print(table(missed))
        console.print(f"{len(missed)} of {len(promises)} promises did NOT hold", style="bold red")
        raise typer.Exit(1)
    console.print(f"all {len(promises)} promises held", style="green")


def main() -> None:
    """A failure is one line and an exit code; SIGTERM ends what was started, as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app()
    except Failure as failure:
        Console(stderr=True).print(f"overload: {failure}", style="red", markup=False)
        sys.exit(failure.exit_code)


if __name__ == "__main__":
    main()
