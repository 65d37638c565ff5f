"""`report`, `dashboard`, `keep`: what is made of a run that lies on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from restbench.analyse import measures, npb_results
from restbench.commands import npb_bench
from restbench.commands.choosing import closed_run, with_raw_data
from restbench.commands.options import RunArgument, console
from restbench.drive import dashboards
from restbench.experiment import experiment
from restbench.experiment.npb_experiment import is_npb
from restbench.failures import BadConfiguration, Failure
from restbench.judge import study
from restbench.machine import phases
from restbench.show import (
    builds,
    effects,
    export,
    factorial_view,
    figures,
    keep,
    limits,
    report,
    tables,
)
from restbench.store import machine_findings, store
from restbench.store.microbench_records import Microbench


def build_report(name: RunArgument = "latest") -> None:
    """Make tables, figures and page again, from raw data."""
    run = with_raw_data(store.open_run(name))
    if is_npb(run.experiment_file):
        npb_bench.build_report(run)
        return
    _analyse(run)


def build_dashboard(
    name: RunArgument,
    cell: Annotated[str, typer.Argument(help="A cell's id, as 'restbench plan' prints it.")],
) -> None:
    """Make the JMeter dashboard of one cell."""
    run = with_raw_data(closed_run(name))
    for page in dashboards.write(run, cell):
        console.print(str(page))


def keep_run(
    name: RunArgument,
    kept: Annotated[str, typer.Argument(help="Name of the copy's folder in results/.")],
) -> None:
    """Copy a run without its raw data, to be kept in git."""
    kernels = is_npb(store.open_run(name).experiment_file)
    run = with_raw_data(store.open_run(name) if kernels else closed_run(name))
    target = store.Run(store.RESULTS / kept)
    if "/" in kept or target.has_raw_data or (target.path.exists() and not target.is_kept):
        raise BadConfiguration(f"{target.path}: not a name for a copy, or a run with raw data")
    if kernels:
        keep.keep_kernels(run, npb_results.results(run), target)
    else:
        keep.keep(run, measures.rows(run), target, _note)
    console.print(str(target.path), soft_wrap=True)


@dataclass(frozen=True)
class Presented:
    """What a run came to, as it was shown."""

    rows: Sequence[measures.Row]
    failure: Failure | None
    """Why there are no dashboards: for who has judged the rows first, which weigh more."""


def present(run: store.Run, before_page: Callable[[], None]) -> Presented:
    """Dashboards, which the page links to, then all the rest, which is shown even if they fail."""
    failure: Failure | None = None
    try:
        dashboards.write_study(run)
    except Failure as error:
        failure = error
        _note(f"no dashboards: {error}")
    return Presented(_analyse(run, before_page), failure)


def _note(text: str) -> None:
    console.print(f"note   {text}", markup=False, soft_wrap=True)


def _analyse(
    run: store.Run, before_page: Callable[[], None] = lambda: None
) -> Sequence[measures.Row]:
    with phases.spent_on("tables and figures"):
        rows = measures.rows(run)
    for name in experiment.load(run.experiment_file).views:
        VIEWS[name](run, rows, before_page)
    return rows


def _study(run: store.Run, rows: Sequence[measures.Row], before_page: Callable[[], None]) -> None:
    """The study's tables and figures, the claims, and the page."""
    with phases.spent_on("tables and figures"):
        machine_findings.adopt(Microbench, run, run.microbench_file, store.MICROBENCHES, _note)
        tables.write(run, rows)
        drawn = figures.write(run, rows)
        exported = export.write(run, rows, _note)
    before_page()
    with phases.spent_on("page"):
        page = report.write(run, rows)
    console.print(tables.terminal(rows, run.proofs(), study.decisions(run, rows)))
    console.print(f"tables      {run.test_matrix_markdown}  (and .csv)", soft_wrap=True)
    if drawn:
        console.print(f"figures     {len(drawn)} in {run.path / 'figures'}", soft_wrap=True)
    if run.dashboards.exists():
        console.print(f"dashboards  {run.dashboards}", soft_wrap=True)
    console.print(f"data        {exported}", soft_wrap=True)
    console.print(f"report      {page}", soft_wrap=True)


def _limits(run: store.Run, rows: Sequence[measures.Row], before_page: Callable[[], None]) -> None:
    """The highest rates that meet an open load's objective."""
    found, load = limits.of(run, rows), limits.load_of(run)
    before_page()
    with phases.spent_on("tables and figures"):
        limits.write(run, found)
    console.print(limits.terminal(found, load))
    for note, meaning in limits.meanings(found, load).items():
        console.print(f"{note}: {meaning}", markup=False)
    if run.open_load_figure.exists():
        console.print(f"figure      {run.open_load_figure}", soft_wrap=True)
    console.print(f"tables      {run.open_load_markdown}  (and .csv)", soft_wrap=True)


def _factorial(
    run: store.Run, rows: Sequence[measures.Row], _before_page: Callable[[], None]
) -> None:
    """What explains the response of a factorial design."""
    found = factorial_view.of(run, rows)
    if found is not None:
        factorial_view.write(run, found)
        console.print(effects.sentence(found), markup=False)
        console.print(f"effects     {run.factorial_markdown}  (and .json)", soft_wrap=True)


def _builds(run: store.Run, rows: Sequence[measures.Row], _before_page: Callable[[], None]) -> None:
    """Two builds against each other."""
    found = builds.of(experiment.load(run.experiment_file), rows, run.manifest())
    if found is not None:
        console.print(builds.terminal(found))
        console.print(found.sentence, markup=False, soft_wrap=True)
        console.print(f"builds      {builds.write(run, found)}", soft_wrap=True)


#: What is made of a run's trials, by the name in its experiment's file.
VIEWS = {"study": _study, "limits": _limits, "factorial": _factorial, "builds": _builds}
