"""`plan` and `run`: what would be measured, and measuring it."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from restbench.commands import npb_bench, open_load, planning, results, running
from restbench.commands.options import (
    CellsOption,
    ExperimentArgument,
    ProfileOption,
    ResumeOption,
    console,
)
from restbench.commands.ordering import order_for
from restbench.commands.planning import PilotOption, PrecisionOption
from restbench.commands.results import Presented
from restbench.experiment.npb_experiment import is_npb
from restbench.experiment.open_experiment import is_open_load
from restbench.experiment.order import Order
from restbench.failures import BadConfiguration
from restbench.machine import clock, phases
from restbench.machine.phases import Account
from restbench.schedule import environment, estimate, outcome, runner, volume
from restbench.show.progress import ProgressView, duration
from restbench.store import spending, store

DEFAULT_PROFILE = "quick"


def show_plan(
    name: ExperimentArgument = "thesis",
    profile: ProfileOption = "",
    cells: CellsOption = "",
    precision: PrecisionOption = "",
    pilot: PilotOption = "",
) -> None:
    """Print the cells and the estimated time; start nothing."""
    path = store.experiment_file(name)
    if is_open_load(path):
        if precision:
            raise BadConfiguration("--precision: an open-load experiment has no blocks")
        open_load.show_plan(path, profile or DEFAULT_PROFILE, cells)
        return
    if is_npb(path):
        if precision:
            raise BadConfiguration("--precision: an NPB experiment's profile says its rounds")
        npb_bench.show_plan(path, profile or DEFAULT_PROFILE, cells)
        return
    if precision:
        order = order_for(name, profile or planning.goes_on(path), cells, [])
        planning.show_precision(order, precision, pilot)
        return
    order = order_for(name, profile or DEFAULT_PROFILE, cells, [])
    for planned in order.certain:
        ids = f"  [{' '.join(planned.test_ids)}]" if planned.test_ids else ""
        console.print(f"{planned.order:4d}  {planned.cell.id}{ids}", markup=False)
    console.print(_cost(order))


def run_experiment(
    name: ExperimentArgument = "thesis",
    profile: ProfileOption = DEFAULT_PROFILE,
    cells: CellsOption = "",
    attach: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SERVICE=URL",
            help="Measure a service that others run at http://HOST:PORT; once a service.",
        ),
    ] = None,
    resume: ResumeOption = False,
) -> None:
    """Run an experiment and print the study's tables."""
    path = store.experiment_file(name)
    if is_open_load(path):
        open_load.run_experiment(path, profile, cells, attach or [], resume=resume)
        return
    if is_npb(path):
        npb_bench.run_experiment(path, profile, cells, attach or [], resume=resume)
        return
    account = Account(time.monotonic() - clock.running_s())
    with phases.kept(account):
        order, presented = _measured(name, profile, cells, attach or [], resume=resume)
    seconds = account.seconds()
    console.print(f"all done in {duration(sum(seconds.values()))}: {phases.told(seconds)}")
    outcome.judge(presented.rows, order.profile)
    if presented.failure:
        raise presented.failure


def _measured(
    name: str, profile: str, cells: str, attach: list[str], *, resume: bool
) -> tuple[Order, Presented]:
    """Measure and present a closed load."""
    with phases.spent_on("checks"):
        order = order_for(name, profile, cells, attach)
        begun = running.unfinished(order, order.claims_text, resume=resume)
        to_go = running.to_measure(begun, order.certain)
        written = volume.of(order.certain, order.experiment, order.profile, to_go)
        for note in environment.check(order, written):
            console.print(f"note   {note}", soft_wrap=True)
        run = running.run_for(order, begun)
    console.print(_cost(order))
    with running.kept(run), spending.noted(run) as note_time:
        with ProgressView(console, len(order.certain)) as view:
            runner.execute(order, run, view)
        return order, results.present(run, note_time)


def _cost(order: Order) -> str:
    """How much is to be measured, and how long that takes."""
    profile = order.profile
    blocks = "1 block" if profile.blocks == 1 else f"{profile.blocks} blocks"
    seconds = estimate.total_seconds(order.certain, profile)
    text = f"{len(order.certain)} measurements in {blocks}, about {duration(seconds)}"
    if profile.precision is None:
        return text
    longest = estimate.total_seconds(order.plan, profile)
    return (
        f"{text}; then further blocks, up to {profile.most_blocks} (about {duration(longest)}), "
        f"until every cell is within {profile.precision:.1%}"
    )
