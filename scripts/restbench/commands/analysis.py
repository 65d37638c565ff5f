"""`bench-analysis`: the speed of the analysis itself."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from restbench.commands.options import console
from restbench.machine import machine, machine_lock, watch
from restbench.store.cell_folder import CellFolder
from restbench.tools import analysis_bench
from restbench.tools.analysis_bench import Timed


def bench_analysis(
    rows: Annotated[int, typer.Option(min=1_000, help="Samples in the file.")] = 5_000_000,
) -> None:
    """Time our analysis of a large JTL beside JMeter's."""
    machine_lock.take()
    with tempfile.TemporaryDirectory(prefix="analysis-", dir=watch.begin()) as folder:
        console.print(f"writing {rows:,} samples")
        ours_s: float | None = None
        for timed in analysis_bench.compare(CellFolder(Path(folder)), rows):
            ours_s = ours_s or timed.seconds
            console.print(_line(timed, ours_s))
    console.print(machine.one_line(machine.describe()), soft_wrap=True)


def _line(timed: Timed, ours_s: float) -> str:
    ratio = timed.seconds / ours_s
    return (
        f"{timed.name:<30} {timed.seconds:7.1f} s  {timed.peak_mib:7,.0f} MiB  {ratio:5.1f} x ours"
    )
