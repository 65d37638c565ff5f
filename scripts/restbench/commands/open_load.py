"""`plan`, `run` and `report` of an open-load experiment."""

from __future__ import annotations

import time
from pathlib import Path

from restbench.analyse import open_results
from restbench.commands import running
from restbench.commands.options import console
from restbench.commands.ordering import attached, command_line
from restbench.experiment import open_experiment
from restbench.experiment.cell import Cell
from restbench.experiment.open_experiment import OpenOrder
from restbench.experiment.plan import parse_filter
from restbench.failures import BadConfiguration
from restbench.schedule import environment, open_load, outcome, volume
from restbench.show import open_figure, open_report
from restbench.show.progress import duration
from restbench.store.store import Run


def show_plan(path: Path, profile: str, cells: str) -> None:
    """Print the walks and how long they can take at most; start nothing."""
    order = _order(path, profile, cells, [])
    for planned in order.plan:
        console.print(f"{planned.order:4d}  {planned.cell.id}", markup=False)
    console.print(_cost(order))


def run_experiment(
    path: Path, profile: str, cells: str, attach: list[str], *, resume: bool
) -> None:
    """Walk every cell and print what each one's highest rate is."""
    begun = time.monotonic()
    order = _order(path, profile, cells, attach)
    begun_run = running.unfinished(order, None, resume=resume)
    to_go = running.to_measure(begun_run, order.plan)
    written = volume.of_walks(to_go, order.experiment, order.profile)
    for note in environment.check(order, written):
        console.print(f"note   {note}", soft_wrap=True)
    run = running.run_for(order, begun_run)
    console.print(_cost(order))
    with running.kept(run):
        open_load.execute(order, run, _say)
        build_report(run)
    console.print(f"all done in {duration(time.monotonic() - begun)}")
    outcome.judge_walks(open_results.results(run))


def build_report(run: Run) -> None:
    """Make the run's tables again from its raw data."""
    found = open_results.results(run)
    if open_figure.write(run, found):
        console.print(f"figure      {run.open_load_figure}", soft_wrap=True)
    open_report.write(run, found)
    objective = open_experiment.load(run.experiment_file).objective
    console.print(open_report.terminal(found, objective))
    for note, meaning in open_report.meanings(found).items():
        console.print(f"{note}: {meaning}", markup=False)
    console.print(f"tables      {run.open_load_markdown}  (and .csv)", soft_wrap=True)


def _say(line: str) -> None:
    console.print(line, markup=False, soft_wrap=True)


def _order(path: Path, profile: str, cells: str, attach: list[str]) -> OpenOrder:
    loaded = open_experiment.load(path)
    loaded.profile(profile)
    return OpenOrder(
        experiment=loaded,
        experiment_text=path.read_text(encoding="utf-8"),
        profile_name=profile,
        plan=open_experiment.plan(_chosen(loaded, cells)),
        command=command_line(),
        attached=attached(attach),
    )


def _chosen(loaded: open_experiment.OpenExperiment, cells: str) -> list[Cell]:
    selection = parse_filter(cells, loaded)
    chosen = [cell for cell in loaded.all_cells() if selection.matches(cell)]
    if not chosen:
        raise BadConfiguration(f"no cell of experiment '{loaded.name}' matches the selection")
    return chosen


def _cost(order: OpenOrder) -> str:
    longest = duration(len(order.plan) * order.profile.walk_max_s)
    return (
        f"{len(order.plan)} walks, about {longest} if each takes all its time; "
        f"objective {order.experiment.objective}"
    )
