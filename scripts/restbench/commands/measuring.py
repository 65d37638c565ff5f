"""`plan` and `run`: what would be measured, and measuring it."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from restbench.analyse import exported
from restbench.commands import results, running
from restbench.commands.choosing import with_raw_data
from restbench.commands.options import (
    CellsOption,
    ExperimentArgument,
    MinutesOption,
    ProfileOption,
    ResumeOption,
    RunArgument,
    RunOption,
    console,
)
from restbench.commands.ordering import order_for
from restbench.commands.results import Presented
from restbench.experiment.order import Order
from restbench.failures import BadConfiguration
from restbench.judge import study
from restbench.machine import clock, phases
from restbench.machine.phases import Account
from restbench.schedule import environment, resuming, runner
from restbench.show.progress import ProgressView, duration
from restbench.store import exported as run_json
from restbench.store import spending, store
from restbench.store.store import Run

DEFAULT_PROFILE = "quick"


def show_plan(
    name: ExperimentArgument = "thesis",
    profile: ProfileOption = "",
    cells: CellsOption = "",
    minutes: MinutesOption = 0.0,
    run: RunOption = "",
) -> None:
    """Print the cells, their groups and the time; start nothing."""
    if run:
        _show_rest(store.open_run(run))
        return
    order = order_for(name, profile or DEFAULT_PROFILE, cells, [], minutes)
    for line in order.experiment.factorial.plan() if order.experiment.factorial else []:
        console.print(line, markup=False, soft_wrap=True)
    ids = {each.cell: each.test_ids for each in order.plan}
    for group in runner.groups_of(order):
        part = f"{group.share:g} of the time" if group.compared else "what time is left"
        console.print(f"group {group.name}: {part}", markup=False)
        for cell in group.cells:
            shown = f"  [{' '.join(ids[cell])}]" if ids[cell] else ""
            console.print(f"  {cell.id}{shown}", markup=False)
    console.print(_cost(order))


def _show_rest(run: Run) -> None:
    """What a run has decided, what the rest takes, and which cells had no time."""
    rows = exported.rows(run)
    if run.trials.exists():
        decided = study.decisions(run, rows)
    else:
        decided = study.decisions_of(run_json.read(run.exported_file))
    for decision in decided:
        console.print(f"{decision.id:14} {decision.headline}", markup=False)
    for each in study.not_measured(rows):
        console.print(each, markup=False, soft_wrap=True)
    console.print(f"more of it: restbench extend {run.name} --minutes N", markup=False)


def run_experiment(  # noqa: PLR0913 - one option each
    name: ExperimentArgument = "thesis",
    profile: ProfileOption = DEFAULT_PROFILE,
    cells: CellsOption = "",
    minutes: MinutesOption = 0.0,
    attach: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SERVICE=URL",
            help="Measure a service that others run at http://HOST:PORT; once a service.",
        ),
    ] = None,
    *,
    resume: ResumeOption = False,
) -> None:
    """Run an experiment and print its tables."""
    account = Account(time.monotonic() - clock.running_s())
    with phases.kept(account):
        order = order_for(name, profile, cells, attach or [], minutes)
        if order.experiment.thresholds:
            raise BadConfiguration(
                f"experiment '{name}' compares two builds: restbench ab COMMIT_A COMMIT_B"
            )
        begun = running.unfinished(order, resume=resume)
        presented = measured(order, begun)
    end(account, presented)


def extend_run(
    name: RunArgument = "latest",
    minutes: Annotated[
        float, typer.Option("--minutes", metavar="N", help="How long it goes on.")
    ] = 30.0,
) -> None:
    """Go on with a finished run: more blocks for what is undecided."""
    if minutes <= 0:
        raise BadConfiguration(f"--minutes {minutes:g}: give a time above 0")
    run = with_raw_data(name)
    account = Account(time.monotonic() - clock.running_s())
    with phases.kept(account):
        order = resuming.order_to_extend(run, minutes)
        presented = measured(order, run)
    end(account, presented)


def end(account: Account, presented: Presented) -> None:
    """Say where the time went, and raise what the run has to end with."""
    seconds = account.seconds()
    console.print(f"all done in {duration(sum(seconds.values()))}: {phases.summary(seconds)}")
    runner.judge(presented.rows)
    if presented.failure:
        raise presented.failure


def measured(order: Order, begun: Run | None) -> Presented:
    """Measure and present a run of trials; `begun` is one to go on with."""
    console.print(_cost(order))
    with phases.spent_on("checks"):
        for note in environment.check(order):
            console.print(f"note   {note}", soft_wrap=True)
        run = begun or running.begun_now(order)
    with running.kept(run, can_go_on=not order.builds), spending.noted(run) as note_time:
        with ProgressView(console) as view:
            runner.execute(order, run, view)
        return results.present(run, note_time)


def _cost(order: Order) -> str:
    """How much is to be measured, and how long that takes."""
    profile = order.profile
    cells = len({each.cell for each in order.plan})
    blocks = "1 block" if profile.blocks == 1 else f"{profile.blocks} blocks"
    more = profile.most_blocks - profile.blocks
    further = f"; up to {more} more while a claim is undecided and there is time" if more else ""
    return f"{cells} cells, {blocks} in about {duration(60 * profile.minutes)}{further}"
