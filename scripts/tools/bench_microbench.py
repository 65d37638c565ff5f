"""`microbench`: the parts of a request without HTTP, and the size from which a strategy pays."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from restbench import cli
from restbench.commands.options import console
from restbench.show.progress import duration
from tools import microbench
from tools.microbench_plan import PROFILES, plan_of
from tools.microbench_tables import terminal
from tools.service_choice import OnlyServiceOption, OnlyStrategiesOption


def measure_parts(
    profile: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(PROFILES)}.")
    ] = "quick",
    service: OnlyServiceOption = "",
    strategies: OnlyStrategiesOption = "",
) -> None:
    """Time a request's parts; find what size pays."""
    begun = time.monotonic()
    made = microbench.measure(
        plan_of(profile, service, strategies), lambda line: console.print(line, soft_wrap=True)
    )
    kept = microbench.keep(made)
    console.print(terminal(made))
    console.print(f"kept   {kept}  (and .json)", soft_wrap=True)
    console.print(f"done in {duration(time.monotonic() - begun)}")


if __name__ == "__main__":
    cli.main(cli.alone(measure_parts))
