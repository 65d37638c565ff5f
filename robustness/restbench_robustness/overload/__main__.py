"""`make overload`: presses the services harder than anybody should, and says what held."""

from __future__ import annotations

import signal
import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from restbench.cell import ServiceName
from restbench.failures import Failure
from restbench_robustness.overload.flood import Force
from restbench_robustness.overload.kills import Killing
from restbench_robustness.overload.promises import Promise, broken, table
from restbench_robustness.overload.session import SCENARIOS, Wanted

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
CAPACITY_S = 4.0
USERS = 8


class Services(StrEnum):
    """Which to press."""

    JAVA = "java"
    PYTHON = "python"
    BOTH = "both"


class Scenarios(StrEnum):
    """What to do to them."""

    FLOOD = "flood"
    SLOW = "slow"
    KILL = "kill"
    STOP = "stop"
    ALL = "all"


@app.command()
def overload(  # noqa: PLR0913, PLR0917 - an option each
    service: Annotated[Services, typer.Option(help="which service")] = Services.BOTH,
    strategy: Annotated[str, typer.Option(help="a strategy's name, or all")] = "all",
    scenario: Annotated[Scenarios, typer.Option(help="what to do to it")] = Scenarios.ALL,
    seconds: Annotated[float, typer.Option(min=1, help="of load, each strategy")] = 60.0,
    connections: Annotated[int, typer.Option(min=1, help="at once")] = 1000,
    kills: Annotated[int, typer.Option(min=1, help="of each kind of process")] = 20,
    seed: Annotated[int, typer.Option(help="of bodies, victims and pauses")] = 1,
) -> None:
    """Ten times the capacity, slow and vanished clients, kill -9, SIGTERM: what was promised, what
    was seen. Exit code 1 where a promise did not hold.

    The ports are JAVA_PORT and PYTHON_PORT.
    """
    services: list[ServiceName] = ["java", "python"] if service == "both" else [service.value]  # type: ignore[list-item]
    promises: list[Promise] = []
    with tempfile.TemporaryDirectory(prefix="restbench-overload-") as folder:
        for name in services:
            wanted = Wanted(
                service=name,
                strategy=strategy,
                force=Force(seconds, connections, CAPACITY_S, seed),
                killing=Killing(kills, USERS, seed),
                folder=Path(folder) / name,
            )
            for key, carry_out in SCENARIOS.items():
                if scenario in (key, "all"):
                    for findings in carry_out(wanted):
                        promises += findings.promises
                        console.print(table(findings.promises))
    _conclude(promises)


def _conclude(promises: list[Promise]) -> None:
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
