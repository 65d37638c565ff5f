"""`compare`: two runs side by side."""

from __future__ import annotations

import re
from typing import Annotated

import typer
from rich.table import Column, Table

from restbench.commands.options import console, note
from restbench.experiment.columns import HEADINGS, readable
from restbench.failures import BadConfiguration, Regression
from restbench.judge import trust
from restbench.judge.compare import METRICS, RunComparison, compare
from restbench.judge.verdicts import ratio_text
from restbench.store import store

#: Cells that a note names; it counts the others.
NAMED = 5
_RUN = "A run's name, its path, or 'latest'."


def compare_runs(
    first: Annotated[str, typer.Argument(metavar="RUN_A", help=_RUN)],
    second: Annotated[str, typer.Argument(metavar="RUN_B", help=_RUN)],
    metric: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"One of {', '.join(METRICS)}, or a metric of the run's driver. Default: the "
            "driver's main metric, or throughput_per_s.",
        ),
    ] = "",
    margin: Annotated[
        str, typer.Option(metavar="PERCENT", help="Smaller differences do not count.")
    ] = "5%",
    any_machine: Annotated[
        bool, typer.Option("--any-machine", help="Compare runs of different machines as well.")
    ] = False,
) -> None:
    """Print the ratio second/first of every cell."""
    runs = [store.open_run(name) for name in (first, second)]
    found = compare(runs[0], runs[1], metric, _margin(margin), any_machine)
    console.print(_table(found, runs[0].name, runs[1].name))
    for each in _notes(found):
        note(each)
    if found.regressions:
        cells = ", ".join(line.cell.id for line in found.regressions)
        raise Regression(f"worse in {runs[1].name}: {cells}")


def _margin(text: str) -> float:
    """`5%` → 0.05."""
    given = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", text)
    percent = float(given.group(1)) if given else 0.0
    if not 0 < percent < 100:
        raise BadConfiguration(f"--margin {text}: give a percentage between 0 and 100, such as 5%")
    return percent / 100


def _table(found: RunComparison, first: str, second: str) -> Table:
    table = Table(
        Column("Cell", overflow="fold"),
        *(Column(heading, justify="right") for heading in ("First", "Second", "Ratio, 95 %")),
        Column("Verdict", overflow="fold"),
        title=f"{HEADINGS.get(found.metric, found.metric)}: {second} / {first}",
        title_justify="left",
    )
    for line in found.lines:
        values = (readable(line.first), readable(line.second), ratio_text(line.comparison))
        table.add_row(line.cell.id, *values, line.words)
    return table


def _notes(found: RunComparison) -> list[str]:
    notes = list(found.notes)
    for which, cells in (("first", found.only_first), ("second", found.only_second)):
        if cells:
            notes.append(f"only in the {which} run: {trust.named(cells, NAMED)}")
    if any(line.comparison.ratio for line in found.lines):
        notes.append(
            "intervals cover the blocks of each run, not different days; Holm's correction applies"
        )
    return notes
