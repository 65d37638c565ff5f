"""The command line: gathers the commands, and turns every failure into a line and an exit code."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import typer
from rich.console import Console

from restbench.commands import analysis, calibrate, compare, machine, measuring, results, services
from restbench.failures import Failure, Interrupted

HELP = """Measure parallel execution techniques of web services.

Examples:

\b
  restbench doctor                            what here makes numbers worse
  restbench calibrate                         is the measuring chain right?
  restbench plan thesis --profile quick       what would run, and how long
  restbench run smoke --profile smoke         does everything work here?
  restbench run thesis --profile quick        the study's tables, 15 minutes
  restbench run thesis --profile quick --cells 'service=java users=10'
  restbench report latest                     its tables and figures again
  restbench compare RUN_A latest              is the second run worse?
  restbench dashboard latest java-serial-unbound-low-10u

Exit codes:

\b
  0    all measured                           4    cells failed
  1    a fault of restbench itself            5    a wrong answer
  2    a wrong option or experiment file      6    worse than the run before
  3    the machine lacks a tool or a port     130  interrupted
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
errors = Console(stderr=True, highlight=False)

COMMANDS: dict[str, Callable[..., None]] = {
    "plan": measuring.show_plan,
    "run": measuring.run_experiment,
    "report": results.build_report,
    "compare": compare.compare_runs,
    "dashboard": results.build_dashboard,
    "keep": results.keep_run,
    "doctor": machine.examine_machine,
    "calibrate": calibrate.calibrate_machine,
    "bench-analysis": analysis.bench_analysis,
    "serve": services.serve_services,
    "stop": services.stop_services,
}
for name, command in COMMANDS.items():
    app.command(name)(command)


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
