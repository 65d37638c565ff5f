"""`microbench`: the parts of a request without HTTP, and the size from which a strategy pays; told
on a terminal, and kept as JSON and as a Markdown document."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from restbench import cli
from restbench.commands.options import console
from restbench.experiment.cell import ServiceName
from restbench.experiment.columns import readable
from restbench.experiment.records import Microbench, Score
from restbench.experiment.statistics import t_interval
from restbench.machine import clock, machine, machine_cpu, machine_lock, watch
from restbench.show.document import Column, Table, markdown, number, table
from restbench.show.microbench_text import BREAK_EVENS, READING, made_of
from restbench.show.progress import duration
from restbench.show.terminal import drawn
from restbench.store import machine_findings, store
from restbench.store.writing import write_text
from tools import microbench_jmh, microbench_pyperf
from tools.microbench_break_even import break_evens
from tools.microbench_plan import PROFILES, Plan, plan_of, shapes, write_bodies
from tools.service_choice import OnlyServiceOption, OnlyStrategiesOption

Tell = Callable[[str], None]
Measure = Callable[[Plan, Path, Path, Tell], list[Score]]

MEASURES: Mapping[ServiceName, Measure] = {
    "java": microbench_jmh.measure,
    "python": microbench_pyperf.measure,
}
PARTS = "The parts of a request, without HTTP"
BREAK_EVEN = "From which size on does a strategy pay?"


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
    folder = watch.begin()
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


def document(made: Microbench) -> str:
    """The break-even sizes, then every time behind them."""
    sections = [
        f"# {PARTS}",
        made_of(made),
        f"## {BREAK_EVEN}",
        READING,
        markdown(_break_evens(made)),
        "## Times",
        "Mean over the processes, with the half-width of its 95 % t interval.",
        markdown(_scores(made)),
    ]
    return "\n\n".join(sections) + "\n"


def terminal(made: Microbench) -> RenderableType:
    """The times, and last, where it is seen first, what they say."""
    shown = (drawn(_scores(made)), drawn(_break_evens(made)))
    return Group(*shown, Text(READING), Text(made_of(made)))


def _break_evens(made: Microbench) -> Table:
    return table(BREAK_EVEN, BREAK_EVENS, made.break_evens)


def _scores(made: Microbench) -> Table:
    return table(PARTS, _SCORES, made.scores)


def _time(score: Score) -> str:
    interval = t_interval(score.runs_us)
    return f"{readable(interval.mean)} ± {readable(interval.half_width)}"


_SCORES: Sequence[Column[Score]] = (
    Column("Service", lambda each: each.service),
    Column("Part", lambda each: each.part),
    Column("Kernel", lambda each: each.kernel or ""),
    Column("Strategy", lambda each: each.strategy or ""),
    Column("Of", lambda each: each.shape or f"{each.rows} rows, empty"),
    number("µs", _time),
)


if __name__ == "__main__":
    cli.main(cli.single_command_app(measure_parts))
