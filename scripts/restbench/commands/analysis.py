"""`bench-analysis`: the speed of the analysis itself."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from restbench import analysis_bench, machine
from restbench.analysis_bench import Timed
from restbench.commands.options import console
from restbench.store import CellFolder


def bench_analysis(
    rows: Annotated[int, typer.Option(min=1_000, help="Samples in the file.")] = 5_000_000,
) -> None:
    """Time the analysis of a large sample log beside JMeter's dashboards."""
    with tempfile.TemporaryDirectory(prefix="restbench-") as folder:
        cell = CellFolder(Path(folder))
        timed = analysis_bench.compare(cell, rows)
        size_mib = cell.samples.stat().st_size / 2**20
    console.print(_table(timed, f"{rows:,} samples, {size_mib:,.0f} MiB"))
    console.print(machine.one_line(machine.describe()), soft_wrap=True)


def _table(timed: list[Timed], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("analysis")
    for heading in ("seconds", "peak MiB", "times ours"):
        table.add_column(heading, justify="right")
    ours = timed[0].seconds
    for each in timed:
        ratio = f"{each.seconds / ours:.1f}"
        table.add_row(each.name, f"{each.seconds:.1f}", f"{each.peak_mib:,.0f}", ratio)
    return table
