"""`plan`, `run` and `extend`: make an order from options, show what it would measure, run it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from restbench.analyse.measures import Row
from restbench.commands import results
from restbench.commands.options import (
    RESUME,
    CellsOption,
    ExperimentArgument,
    MinutesOption,
    ProfileOption,
    ResumeOption,
    RunArgument,
    RunOption,
    console,
    is_address,
    note,
)
from restbench.deploy import programs
from restbench.drive import dashboards
from restbench.experiment import claim_file, experiment, toml_file
from restbench.experiment.cell import STRATEGIES, ServiceName
from restbench.experiment.order import Order, parse_filter, plan
from restbench.experiment.profile import require_time
from restbench.experiment.statistics import FEWEST_BLOCKS
from restbench.failures import (
    BadConfiguration,
    CellsFailed,
    ChangedDuringRun,
    Failure,
    Interrupted,
    StorageProblem,
    WrongAnswers,
    counted,
)
from restbench.machine import clock, storage, watch
from restbench.schedule import allocation, begin, closed_load, environment, runner
from restbench.show.progress import ProgressView, duration
from restbench.store import store
from restbench.store.folders import BEGUN
from restbench.store.store import Run

DEFAULT_PROFILE = "quick"
RESUMED = "the same command with --resume (make: RESUME=1)"


def show_plan(
    name: ExperimentArgument = "thesis",
    profile: ProfileOption = "",
    cells: CellsOption = "",
    minutes: MinutesOption = 0.0,
    run: RunOption = "",
) -> None:
    """Print the cells, their groups and the time; start nothing."""
    if run:
        results.show_remaining(store.open_run(run))
        return
    order = order_for(name, profile or DEFAULT_PROFILE, cells, [], minutes)
    for line in order.experiment.factorial.plan() if order.experiment.factorial else []:
        console.print(line, soft_wrap=True)
    ids = {each.cell: each.test_ids for each in order.plan}
    groups = allocation.groups_of(order)
    whole = sum(group.share for group in groups if group.compared)
    for group in groups:
        share = f"{100 * group.share / whole:.0f} % of the time"
        part = share if group.compared else "the remaining time"
        console.print(f"group {group.name}: {part}")
        for cell in group.cells:
            shown = f"  [{' '.join(ids[cell])}]" if ids[cell] else ""
            console.print(f"  {cell.id}{shown}", soft_wrap=True)
    for each in environment.planned(order):
        console.print(each, soft_wrap=True)
    console.print(_cost(order), soft_wrap=True)


def run_experiment(  # noqa: PLR0913 - one option each
    name: ExperimentArgument = "thesis",
    profile: ProfileOption = DEFAULT_PROFILE,
    cells: CellsOption = "",
    minutes: MinutesOption = 0.0,
    attach: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SERVICE=URL",
            help="Measure a service that already runs at http://HOST:PORT; once per service.",
        ),
    ] = None,
    *,
    resume: ResumeOption = False,
) -> None:
    """Run an experiment and print its tables."""
    # First: whoever is told of a wrong profile would mend it in vain.
    if experiment.load(store.experiment_file(name)).thresholds:
        raise BadConfiguration(
            f"experiment '{name}' compares two builds: restbench ab COMMIT_A COMMIT_B"
        )
    order = order_for(name, profile, cells, attach or [], minutes)
    begun = begin.to_go_on_with(order, store.runs(), note) if resume else None
    end(*measured(order, begun))


def extend_run(
    name: RunArgument = "latest",
    minutes: Annotated[float, typer.Option(metavar="N", help="How much longer to measure.")] = 30.0,
) -> None:
    """Extend a run: more blocks for undecided claims."""
    require_time(minutes)
    run = results.with_raw_data(name)
    order = begin.order_to_extend(run, minutes)
    end(*measured(order, run, f"'restbench extend {run.name}'"))


def order_for(
    name: str, profile: str, cells: str, attach: list[str], minutes: float = 0.0
) -> Order:
    """The order by the options of `run` and `plan`. BadConfiguration where they are wrong."""
    path = store.experiment_file(name)
    loaded = experiment.load(path)
    claims_text = None
    if loaded.claims is not None:
        # The run is judged by what was fixed before it, and an error in the file is reported now.
        file = path.parent / loaded.claims
        if not file.exists():
            raise BadConfiguration(f"{path}: claims: '{loaded.claims}' does not exist")
        text = toml_file.content(file)
        claims = toml_file.parse(text, claim_file.Claims, file)
        claim_file.check_complexities(claims, loaded.levels, str(file))
        claims_text = text.decode("utf-8")
    selection = parse_filter(cells, loaded)
    chosen = loaded.profile(profile)
    if minutes:
        chosen = chosen.lasting(minutes)
    if claims_text is None or loaded.thresholds:
        chosen = chosen.filling_its_time()
    planned = plan(loaded, chosen, selection)
    others = attached(attach)
    here = [each.cell for each in planned if each.cell.service not in others]
    programs.require_frameworks(here, selection)
    return Order(
        experiment=loaded,
        experiment_text=path.read_text(encoding="utf-8"),
        profile_name=profile,
        profile=chosen,
        plan=planned,
        command=command_line(),
        claims_text=claims_text,
        attached=others,
    )


def command_line() -> str:
    """The command as typed, without RESUME: a resumed run has the same one as an uninterrupted."""
    return shlex.join(["restbench", *(each for each in sys.argv[1:] if each != RESUME)])


def attached(pairs: list[str]) -> dict[ServiceName, str]:
    """The addresses that `--attach` gives, by service. Raises BadConfiguration for a wrong one."""
    found: dict[ServiceName, str] = {}
    for pair in pairs:
        name, _, url = pair.partition("=")
        if name not in STRATEGIES or not is_address(url):
            raise BadConfiguration(
                f"--attach {pair}: give SERVICE=http://HOST:PORT; services are "
                + ", ".join(STRATEGIES)
            )
        service: ServiceName = "java" if name == "java" else "python"
        if service in found:
            raise BadConfiguration(f"--attach {pair}: {service} is attached twice")
        found[service] = url
    return found


def end(rows: Sequence[Row], failure: Failure | None) -> None:
    """Print how long the command took; raise the failure that it has to end with, if any. Failures
    of the rows have precedence over `failure`."""
    console.print(f"all done in {duration(clock.running_s())}")
    judge(rows)
    if failure:
        raise failure


def judge(rows: Sequence[Row]) -> None:
    """Raise WrongAnswers where a cell gave wrong answers, else CellsFailed where one failed; the
    message names the cells of both kinds. A cell without time or strategy is no failure."""
    wrong, absent, failed = (
        [row.cell.id for row in rows if flag in row.flags]
        for flag in ("wrong-answers", "not-offered", "failed")
    )
    failed = [each for each in failed if each not in (*wrong, *absent)]
    found: list[tuple[type[Failure], str, Sequence[str]]] = [
        (WrongAnswers, f"wrong answers in {counted(len(wrong), 'cell')}", wrong),
        (CellsFailed, f"{counted(len(failed), 'cell')} failed", failed),
    ]
    raised = [(kind, f"{what}: {', '.join(cells)}") for kind, what, cells in found if cells]
    if raised:
        raise raised[0][0]("; ".join(text for _, text in raised))


def measured(
    order: Order, begun: Run | None, again: str = RESUMED
) -> tuple[Sequence[Row], Failure | None]:
    """Measure and show a run; returns its rows, and why there are no dashboards, if that failed.
    `begun` is an earlier run to continue; `again` is the command that continues it later."""
    console.print(_cost(order, begun), soft_wrap=True)
    for each in environment.check(order):
        note(each)
    run = begun or create_run_folder(order)
    failure: Failure | None = None
    with locked_run(run, "" if order.builds else again):
        with ProgressView(console) as view:
            runner.execute(order, run, view)
        try:
            dashboards.write(run)  # first: the page links to them
        except Failure as error:
            failure = error
            note(f"no dashboards: {error}")
        rows, reported = results.analyse(run)
        results.show(run, reported)
    return rows, failure


def _cost(order: Order, begun: Run | None = None) -> str:
    """The number of cells and blocks and their duration, as far as known before the run. Of a run
    that has `begun` only what is to come is counted."""
    profile = order.profile
    planned = {each.cell for each in order.plan}
    took_s = [each.seconds for each in begun.trials.blocks() if each.seconds] if begun else []
    done = len(took_s)
    left = max(0, profile.blocks - done)
    is_known = order.experiment.traits.has_paces
    least_s = closed_load.least_block_s(allocation.groups_of(order)) if is_known else 0.0
    fewest = min(left, max(1, FEWEST_BLOCKS - done))
    seconds = max(60 * profile.minutes - sum(took_s), fewest * least_s)
    if trace := order.experiment.trace:
        once_s = sum(trace.seconds_of(each, order.profile_name) for each in planned)
        seconds = left * once_s
    most = min(left, max(fewest, int(seconds / least_s))) if is_known else left
    number = f"{fewest} to {most}" if most > fewest else f"{most}"
    blocks = f"{number}{' more' * bool(begun)} block{'s' * (most != 1)}"
    least = f"; one takes at least {duration(least_s)}" if is_known else ""
    starts = " and the start of its services" if is_known or trace else ""
    more = profile.most_blocks - max(profile.blocks, done)
    further = f"; up to {more} more while a claim is undecided and there is time" * (more > 0)
    cells = counted(len(planned), "cell")
    return f"{cells}, {blocks} in about {duration(seconds)}{least}{starts}{further}"


def create_run_folder(order: Order) -> Run:
    """Create the folder of a new run, named by its time. It is removed at the end of the process
    unless a file of BEGUN is in it by then."""
    watch.begin()  # before the folder exists, which may have to be removed
    stamp = clock.now().strftime("%Y-%m-%dT%H-%M-%S")
    begun = store.create_run(f"{stamp}-{order.experiment.name}-{order.profile_name}")
    watch.at_end("unless", begun.path, *BEGUN)  # at once: any later step may end the process
    return begun


@contextmanager
def locked_run(run: Run, again: str = RESUMED) -> Iterator[None]:
    """Hold the run's lock. The message of an interruption says that the results are kept, and
    which command continues the run, if one does."""
    with store.locked(run) as is_held:
        console.print(f"raw data: {run.path}", soft_wrap=True)
        try:
            watch.at_end("remove", storage.temporary(run.latest))
            watch.at_end("tidy", run.path)
            if is_held:
                watch.sweep(run.path)
            else:
                note("this file system has no locks: do not resume a run that is still in progress")
            yield
        except (Interrupted, StorageProblem, ChangedDuringRun) as stop:
            if not run.manifest_file.exists():
                raise
            # What is kept is also said where the output was closed, which else ends quietly.
            kind = Interrupted if isinstance(stop, Interrupted) else type(stop)
            raise kind(
                f"{stop}; the measurements are kept: 'restbench report latest' shows them"
                + f", {again} continues the run" * bool(again)
            ) from stop
