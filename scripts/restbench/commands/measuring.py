"""`plan`, `run` and `extend`: what would be measured, and measuring it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from restbench.analyse import exported
from restbench.commands import results
from restbench.commands.options import (
    CellsOption,
    ExperimentArgument,
    MinutesOption,
    ProfileOption,
    ResumeOption,
    RunArgument,
    RunOption,
    console,
    note,
)
from restbench.commands.ordering import order_for
from restbench.commands.results import Presented, with_raw_data
from restbench.experiment.order import Order
from restbench.failures import BadConfiguration, Interrupted, NotAsBegun, StorageProblem
from restbench.judge import study
from restbench.machine import clock, phases, storage, watch
from restbench.machine.phases import Account
from restbench.schedule import environment, resuming, runner
from restbench.show.progress import ProgressView, duration
from restbench.store import exported as run_json
from restbench.store import run_lock, spending, store
from restbench.store.folders import BEGUN
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
        begun = unfinished(order, resume=resume)
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
        for each in environment.check(order):
            note(each)
        run = begun or begun_now(order)
    with kept(run, can_go_on=not order.builds), spending.noted(run) as note_time:
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


def unfinished(order: Order, *, resume: bool) -> Run | None:
    """The run to go on with, if that is asked for and there is one: the newest that was ordered in
    just this way. Where there is none, a line says so."""
    if not resume:
        return None
    known = resuming.unfinished(order, store.runs(), note)
    found = next((each.run for each in known if not each.differences), None)
    if found is None:
        wanted = f"{order.experiment.name} with profile {order.profile_name}"
        others = [f"{each.run.name} differs in {', '.join(each.differences)}" for each in known]
        notes = [f"nothing to resume: no unfinished run of {wanted}", *others, "a new one begins"]
        note("; ".join(notes))
    return found


def begun_now(order: Order) -> Run:
    """The folder of a run that begins now, named by its time. Killed before it has begun it leaves
    no folder."""
    watch.begin()  # before there is a folder that may have to go again
    stamp = clock.now().strftime("%Y-%m-%dT%H-%M-%S")
    begun = store.create_run(f"{stamp}-{order.experiment.name}-{order.profile_name}")
    watch.unless(begun.path, *BEGUN)  # at once: whatever is next may end us
    return begun


@contextmanager
def kept(run: Run, *, can_go_on: bool = True) -> Iterator[None]:
    """Nobody else goes on with it meanwhile; an interruption prints where it lies."""
    with run_lock.held(run) as is_held, _followed(run, can_go_on):
        if not is_held:
            note("no locks on this file system: resume no run that still goes on")
        else:
            watch.sweep(run.path)
        yield


@contextmanager
def _followed(run: Run, can_go_on: bool) -> Iterator[None]:
    watch.tidy(run.path)
    watch.remove(storage.temporary(store.latest(run)))
    console.print(f"raw data: {run.path}", soft_wrap=True)
    try:
        yield
    except (Interrupted, StorageProblem, NotAsBegun) as stop:
        if not run.manifest_file.exists():
            raise
        raise type(stop)(
            f"{stop}; what was measured is kept: 'restbench report latest' shows it"
            + ", --resume (make bench RESUME=1) goes on with it" * can_go_on
        ) from stop
