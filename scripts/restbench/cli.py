"""The command line: the only module that prints and exits."""

from __future__ import annotations

import re
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from types import FrameType
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from restbench import (
    dashboards,
    doctor,
    environment,
    estimate,
    experiment,
    figures,
    keep,
    measures,
    plan,
    report,
    runner,
    serve,
    store,
    tables,
)
from restbench.cell import FACTORS, STRATEGIES, ServiceName
from restbench.failures import BadConfiguration, CellsFailed, Failure, Interrupted, WrongAnswers
from restbench.order import Order
from restbench.progress import ProgressView, duration

HELP = """Measure parallel execution techniques of web services.

Examples:

\b
  restbench doctor                            what here makes numbers worse
  restbench plan thesis --profile quick       what would run, and how long
  restbench run smoke --profile smoke         does everything work here?
  restbench run thesis --profile quick        the study's tables, 15 minutes
  restbench run thesis --profile quick --cells 'service=java users=10'
  restbench report latest                     its tables and figures again
  restbench dashboard latest java-serial-unbound-low-10u

Exit codes:

\b
  0    all measured                           4    cells failed
  1    a fault of restbench itself            5    a wrong answer
  2    a wrong option or experiment file      130  interrupted
  3    the machine lacks something: a tool, a free port, a service
"""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
INTERRUPTING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Where there is no terminal to ask, the tables' own width.
PLAIN_WIDTH = 100
#: What can be attached to: JMeter is given host and port, so there is nothing behind them.
ADDRESS = re.compile(r"http://(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?/?")
console = Console(highlight=False, width=None if sys.stdout.isatty() else PLAIN_WIDTH)
errors = Console(stderr=True, highlight=False)

ExperimentArgument = Annotated[
    str, typer.Argument(help="Name of a file in scripts/experiments, or a path ending in .toml.")
]
ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile", metavar="NAME", help="A profile of the experiment: how long, how often."
    ),
]
CellsOption = Annotated[
    str,
    typer.Option(
        "--cells",
        metavar="TERMS",
        help="Only these cells, as 'FACTOR=LEVEL[,LEVEL] ...'; factors are "
        + ", ".join(FACTORS)
        + ".",
    ),
]
RunArgument = Annotated[str, typer.Argument(help="A run's name, its path, or 'latest'.")]


def order_for(name: str, profile: str, cells: str, attach: list[str]) -> Order:
    """What the options of `run` and `plan` ask for; BadConfiguration where they are wrong."""
    path = store.experiment_file(name)
    loaded = experiment.load(path)
    selection = plan.parse_filter(cells, loaded)
    blocks = loaded.profile(profile).blocks
    return Order(
        experiment=loaded,
        experiment_text=path.read_text(encoding="utf-8"),
        profile_name=profile,
        plan=plan.plan(loaded, blocks, selection),
        command=shlex.join(["restbench", *sys.argv[1:]]),
        attached=_attached(attach),
    )


def _attached(pairs: list[str]) -> dict[ServiceName, str]:
    attached: dict[ServiceName, str] = {}
    for pair in pairs:
        name, _, url = pair.partition("=")
        if name not in STRATEGIES or ADDRESS.fullmatch(url) is None:
            raise BadConfiguration(
                f"--attach {pair}: give SERVICE=http://HOST:PORT; services are "
                + ", ".join(STRATEGIES)
            )
        service: ServiceName = "java" if name == "java" else "python"
        if service in attached:
            raise BadConfiguration(f"--attach {pair}: {service} is attached twice")
        attached[service] = url
    return attached


@app.command("plan")
def show_plan(
    name: ExperimentArgument = "thesis",
    profile: ProfileOption = "quick",
    cells: CellsOption = "",
) -> None:
    """Print the cells and the estimated time; start nothing."""
    order = order_for(name, profile, cells, [])
    for planned in order.plan:
        ids = f"  [{' '.join(planned.test_ids)}]" if planned.test_ids else ""
        console.print(f"{planned.order:4d}  {planned.cell.id}{ids}", markup=False)
    blocks = "1 block" if order.profile.blocks == 1 else f"{order.profile.blocks} blocks"
    seconds = estimate.total_seconds(order.plan, order.profile)
    console.print(f"{len(order.plan)} measurements in {blocks}, about {duration(seconds)}")


@app.command("run")
def run_experiment(
    name: ExperimentArgument = "thesis",
    profile: ProfileOption = "quick",
    cells: CellsOption = "",
    attach: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SERVICE=URL",
            help="Measure a service that others run at http://HOST:PORT; once a service.",
        ),
    ] = None,
) -> None:
    """Run an experiment and print the study's tables."""
    begun = time.monotonic()
    order = order_for(name, profile, cells, attach or [])
    for note in environment.check(order):
        console.print(f"note   {note}", soft_wrap=True)
    run = store.create_run(f"{_stamp()}-{order.experiment.name}-{profile}")
    seconds = estimate.total_seconds(order.plan, order.profile)
    console.print(f"{len(order.plan)} measurements, about {duration(seconds)}")
    console.print(f"raw data: {run.path}", soft_wrap=True)
    try:
        with ProgressView(console, len(order.plan)) as view:
            runner.execute(order, run, view)
    finally:
        if run.manifest_file.exists():
            store.point_latest_to(run)
    rows = _present(run)
    console.print(f"all done in {duration(time.monotonic() - begun)}")
    _judge(rows)


@app.command("report")
def build_report(name: RunArgument = "latest") -> None:
    """Make a run's tables, figures and page again, from raw data."""
    _analyse(store.open_run(name))


@app.command("dashboard")
def build_dashboard(
    name: RunArgument,
    cell: Annotated[str, typer.Argument(help="A cell's id, as 'restbench plan' prints it.")],
) -> None:
    """Make the JMeter dashboard of one cell."""
    run = store.open_run(name)
    for page in dashboards.write(run, cell):
        console.print(str(page))


@app.command("keep")
def keep_run(
    name: RunArgument,
    kept: Annotated[str, typer.Argument(help="Name of the copy's folder in results/.")],
) -> None:
    """Copy a run without its raw data, to be kept in git."""
    run = store.open_run(name)
    target = store.Run(store.RESULTS / kept)
    keep.keep(run, measures.rows(run), target)
    console.print(str(target.path), soft_wrap=True)


@app.command("doctor")
def examine_machine() -> None:
    """Say what on this machine makes numbers worse, and the mend."""
    table = Table("What", "Found", "", "Effect", "Mend", title="This machine", title_justify="left")
    for finding in doctor.examine(doctor.Machine()):
        worse = finding.state == "worse"
        effect, mend = (finding.effect, finding.mend) if worse else ("", "")
        table.add_row(finding.name, finding.value, finding.state, effect, mend)
    console.print(table)


@app.command("serve")
def serve_services() -> None:
    """Start both services and print curl lines that work."""
    for service in serve.start_all():
        console.print(f"# {service.name}: {service.base_url}  (docs: {service.base_url}/docs)")
        for line in serve.curl_lines(service):
            console.print(line, markup=False, soft_wrap=True)
    console.print("# 'make stop' ends them")


@app.command("stop")
def stop_services() -> None:
    """End the services that 'serve' left running."""
    stopped = serve.stop_all()
    console.print(f"stopped: {', '.join(stopped)}" if stopped else "nothing was running")


def _present(run: store.Run) -> Sequence[measures.Row]:
    """Dashboards, which the page links to, then all the rest: it is shown even if they fail."""
    try:
        dashboards.write_study(run)
    except Failure:
        _analyse(run)
        raise
    return _analyse(run)


def _analyse(run: store.Run) -> Sequence[measures.Row]:
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


def _judge(rows: Sequence[measures.Row]) -> None:
    """Turn what the cells say into an exit code."""
    wrong = [row.cell.id for row in rows if "wrong-answers" in row.flags]
    failed = [row.cell.id for row in rows if "failed" in row.flags]
    if wrong:
        raise WrongAnswers(f"wrong answers in {len(wrong)} cells: {', '.join(wrong)}")
    if failed:
        raise CellsFailed(f"{len(failed)} cells failed: {', '.join(failed)}")


def _stamp() -> str:
    return datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    # From here on everything is being stopped, in bounded time: no second Ctrl-C may break that.
    for each in INTERRUPTING:
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted(
        "interrupted: everything started is stopped, what was measured is kept; "
        "'restbench report latest' shows it"
    )


def _listen_to_signals() -> None:
    for each in INTERRUPTING:
        if signal.getsignal(each) is not signal.SIG_IGN:  # nohup ignores SIGHUP: so do we
            signal.signal(each, _interrupt)


def main() -> None:
    """Run the command line; every failure becomes one line and its exit code here."""
    _listen_to_signals()
    try:
        app(standalone_mode=True)
    except (Failure, Interrupted) as failure:
        errors.print(f"restbench: {failure}", style="red", markup=False, soft_wrap=True)
        sys.exit(failure.exit_code)


__all__ = ["app", "main"]
