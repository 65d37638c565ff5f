"""A microbenchmark: the parts of a request without HTTP, and what their times say together."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from restbench.experiment.cell import ServiceName
from restbench.machine import machine, machine_cpu, machine_lock, watch
from restbench.store import machine_findings, store
from restbench.store.microbench_records import Microbench, Score
from restbench.store.writing import write_text
from tools import microbench_jmh, microbench_pyperf
from tools.microbench_break_even import break_evens
from tools.microbench_plan import Plan, shapes, write_bodies
from tools.microbench_tables import document

Tell = Callable[[str], None]
Measure = Callable[[Plan, Path, Path, Tell], list[Score]]

MEASURES: Mapping[ServiceName, Measure] = {
    "java": microbench_jmh.measure,
    "python": microbench_pyperf.measure,
}


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
        made=datetime.now().astimezone().isoformat(timespec="seconds"),
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
