"""`plan`, `run` and `report` of an NPB experiment."""

from __future__ import annotations

import time
from pathlib import Path

from restbench.analyse import npb_results
from restbench.commands import running
from restbench.commands.options import console
from restbench.commands.ordering import command_line
from restbench.experiment import npb_experiment, npb_plan
from restbench.experiment.npb_plan import NpbOrder
from restbench.experiment.npb_work import work_of
from restbench.experiment.plan import parse_filter
from restbench.failures import BadConfiguration
from restbench.schedule import environment, npb_run, outcome
from restbench.show import npb_figure, npb_report, npb_terminal
from restbench.show.progress import duration
from restbench.store import store
from restbench.store.store import Run


def show_plan(path: Path, profile: str, cells: str) -> None:
    """Print the measurements in their order; start nothing."""
    order = _order(path, profile, cells)
    for planned in order.plan:
        console.print(f"{planned.order:4d}  {planned.block}  {planned.cell.id}", markup=False)
    console.print(_cost(order))


def run_experiment(
    path: Path, profile: str, cells: str, attach: list[str], *, resume: bool
) -> None:
    """Measure everything, and hold it against the study."""
    begun = time.monotonic()
    if attach:
        raise BadConfiguration("--attach: an NPB run compares a service with its own program")
    order = _order(path, profile, cells)
    npb_run.choose_heap(order.profile.java_heap_mib)
    begun_run = running.unfinished(order, order.claims_text, resume=resume)
    for note in environment.require(order):
        console.print(f"note   {note}", soft_wrap=True)
    run = running.run_for(order, begun_run)
    console.print(_cost(order))
    with running.kept(run):
        npb_run.execute(order, run, _say)
        build_report(run)
    console.print(f"all done in {duration(time.monotonic() - begun)}")
    outcome.judge_kernels(npb_results.results(run))


def build_report(run: Run) -> None:
    """Make the run's tables and figures again from its raw data."""
    rows = npb_results.results(run)
    for name in npb_figure.write(run, rows):
        console.print(f"figure      {run.npb_figure(name)}", soft_wrap=True)
    found = npb_report.findings(run, rows)
    npb_report.write(run, found)
    console.print(npb_terminal.show(found))
    console.print(f"tables      {run.npb_markdown}  (and .csv)", soft_wrap=True)


def _say(line: str) -> None:
    console.print(line, markup=False, soft_wrap=True)


def _order(path: Path, profile: str, cells: str) -> NpbOrder:
    loaded = npb_experiment.load(path)
    chosen = loaded.profile(profile)
    return NpbOrder(
        experiment=loaded,
        experiment_text=path.read_text(encoding="utf-8"),
        profile_name=profile,
        plan=npb_plan.plan(loaded, chosen, parse_filter(cells, loaded)),
        command=command_line(),
        claims_text=store.beside(path, loaded.claims).read_text(encoding="utf-8"),
        published_text=store.beside(path, loaded.published).read_text(encoding="utf-8"),
    )


def _cost(order: NpbOrder) -> str:
    works = [work_of(each.cell.complexity) for each in order.plan]
    runs = sum(order.profile.runs(each).runs * (2 if each.cores is None else 1) for each in works)
    last = order.plan[-1].block
    rounds = "1 round" if last == 1 else f"{last} rounds"
    told = f"{len(order.plan)} measurements in {rounds}, {runs} runs of a kernel"
    return f"{told}. {order.profile.description}"
