"""`report`, `dashboard`, `keep`: what is made of a run that lies on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from restbench import calibration, dashboards, figures, keep, measures, report, store, tables
from restbench.commands import open_load
from restbench.commands.options import RunArgument, console
from restbench.failures import BadConfiguration, Failure
from restbench.open_experiment import is_open_load


def build_report(name: RunArgument = "latest") -> None:
    """Make tables, figures and page again, from raw data."""
    run = store.open_run(name)
    if is_open_load(run.experiment_file):
        open_load.build_report(run)
        return
    _analyse(_with_raw_data(run))


def build_dashboard(
    name: RunArgument,
    cell: Annotated[str, typer.Argument(help="A cell's id, as 'restbench plan' prints it.")],
) -> None:
    """Make the JMeter dashboard of one cell."""
    run = store.open_run(name)
    for page in dashboards.write(run, cell):
        console.print(str(page))


def keep_run(
    name: RunArgument,
    kept: Annotated[str, typer.Argument(help="Name of the copy's folder in results/.")],
) -> None:
    """Copy a run without its raw data, to be kept in git."""
    run = _with_raw_data(store.open_run(name))
    target = store.Run(store.RESULTS / kept)
    keep.keep(run, measures.rows(run), target)
    console.print(str(target.path), soft_wrap=True)


def _with_raw_data(run: store.Run) -> store.Run:
    """The run; BadConfiguration for a kept copy, whose page would become an empty one."""
    if not run.has_raw_data:
        raise BadConfiguration(f"{run.path}: has no raw data to make anything of: a kept copy?")
    return run


def present(run: store.Run) -> Sequence[measures.Row]:
    """Dashboards, which the page links to, then all the rest: it is shown even if they fail."""
    try:
        dashboards.write_study(run)
    except Failure:
        _analyse(run)
        raise
    return _analyse(run)


def _analyse(run: store.Run) -> Sequence[measures.Row]:
    calibration.adopt(run)
    rows = measures.rows(run)
    tables.write(run, rows)
    drawn = figures.write(run, rows)
    page = report.write(run, rows)
    console.print(tables.terminal(rows, run.proofs()))
    console.print(f"tables      {run.test_matrix_markdown}  (and .csv)", soft_wrap=True)
    if drawn:
        console.print(f"figures     {len(drawn)} in {run.path / 'figures'}", soft_wrap=True)
    if run.dashboards.exists():
        console.print(f"dashboards  {run.dashboards}", soft_wrap=True)
    console.print(f"report      {page}", soft_wrap=True)
    return rows
