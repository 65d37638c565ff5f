"""`microbench`: the parts of a request without HTTP, and the size from which a strategy pays."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from restbench import cli
from restbench.commands.options import console
from restbench.experiment.cell import ServiceName
from restbench.machine import clock, machine, machine_cpu, machine_lock, watch
from restbench.show.progress import duration
from restbench.store import machine_findings, store
from restbench.store.microbench_records import Microbench, Score
from restbench.store.writing import write_text
from tools import microbench_jmh, microbench_pyperf
from tools.microbench_break_even import break_evens
from tools.microbench_plan import PROFILES, Plan, plan_of, shapes, write_bodies
from tools.microbench_tables import document, terminal
from tools.service_choice import OnlyServiceOption, OnlyStrategiesOption

Tell = Callable[[str], None]
Measure = Callable[[Plan, Path, Path, Tell], list[Score]]

MEASURES: Mapping[ServiceName, Measure] = {
    "java": microbench_jmh.measure,
    "python": microbench_pyperf.measure,
}


def measure_parts(
    profile: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(PROFILES)}.")
    ] = "quick",
    service: OnlyServiceOption = "",
    strategies: OnlyStrategiesOption = "",
) -> None:
    """Time a request's parts; find what size pays."""
    begun = time.monotonic()
    made = measure(
        plan_of(profile, service, strategies), lambda line: console.print(line, soft_wrap=True)
    )
    kept = keep(made)
    console.print(terminal(made))
    console.print(f"kept   {kept}  (and .json)", soft_wrap=True)
    console.print(f"done in {duration(time.monotonic() - begun)}")


def measure(plan: Plan, tell: Tell) -> Microbench:
    """Measure every part of every service of the plan; `tell` gets a line for each step.

    The tools' own files are not kept; no process is left. WrongAnswers, EnvironmentProblem.
    """
    machine_lock.take()
    watch.end_leftovers()
    sizes = shapes(plan.profile)
    scores: list[Score] = []
    foreign_pct = [machine_cpu.look()]
    with tempfile.TemporaryDirectory(prefix="microbench-", dir=watch.begin()) as name:
        folder = Path(name)
        write_bodies(sizes, folder)
        for each in plan.choice.services:
            scores += MEASURES[each](plan, folder, folder / each, tell)
            foreign_pct.append(machine_cpu.look())
    described = machine.describe()
    return Microbench(
        made=clock.now_text(),
        machine=machine.identity(described),
        described=machine.one_line(described),
        git_commit=machine.git_commit()[0],
        profile=plan.name,
        whole=plan.is_whole,
        foreign_pct=max(foreign_pct),
        shapes=sizes,
        scores=tuple(scores),
        break_evens=tuple(break_evens(scores, sizes)),
    )


def keep(made: Microbench, folder: Path = store.MICROBENCHES) -> Path:
    """Write it as JSON and, next to it, as Markdown; returns the latter.

    What is only a part has a folder of its own: reports do not quote it.
    """
    place = folder if made.whole else folder / "partial"
    path = machine_findings.keep(made, place).with_suffix(".md")
    write_text(path, document(made))
    return path


if __name__ == "__main__":
    cli.main(cli.alone(measure_parts))
