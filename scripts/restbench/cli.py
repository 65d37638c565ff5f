"""The command line: gathers the commands, and turns every failure into a line and an exit code."""

from __future__ import annotations

import errno
import importlib
import io
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import typer
from rich.console import Console
from typer.core import TyperGroup

from restbench.failures import BadConfiguration, ExitCode, Failure, Interrupted, OutputClosed
from restbench.machine import storage

HELP = """Measure parallel execution techniques of web services.

Examples:

\b
  restbench doctor                            what distorts measurements on this machine
  restbench calibrate                         is the measuring chain correct?
  restbench plan thesis --profile quick       what would run, and how long
  restbench run smoke --profile smoke         does everything work here?
  restbench run thesis --profile quick        the study's tables, 20 minutes
  restbench run thesis --profile quick --cells 'service=java users=10'
  restbench report latest                     regenerate its tables and figures
  restbench bottleneck latest                 which tier limits, measured and predicted
  restbench extend latest --minutes 30        more blocks for undecided claims
  restbench compare RUN_A latest              is the second run worse?
  restbench ab HEAD~ HEAD                     is the newer build worse?
  restbench browse                            all runs as one page: results/index.html
  restbench npb CG A --strategy shared-pool   a NAS kernel without the service
  restbench calls --strategy async --delay 1s   many calls, compared with the best possible
  restbench dashboard latest java-serial-unbound-low-10u

Exit codes (if both 4 and 5 apply, the code is 5):

\b
{codes}
"""

#: Each command with its module in `commands` and its function in that module.
COMMANDS = {
    "plan": ("measuring", "show_plan"),
    "run": ("measuring", "run_experiment"),
    "extend": ("measuring", "extend_run"),
    "report": ("results", "build_report"),
    "bottleneck": ("results", "show_bottleneck"),
    "compare": ("compare", "compare_runs"),
    "ab": ("ab", "compare_builds"),
    "dashboard": ("results", "build_dashboard"),
    "keep": ("results", "keep_run"),
    "browse": ("results", "browse_runs"),
    "npb": ("npb", "run_kernel"),
    "calls": ("calls", "make_calls"),
    "doctor": ("machine", "examine_machine"),
    "calibrate": ("calibrate", "calibrate_machine"),
    "serve": ("services", "serve_services"),
    "stop": ("services", "stop_services"),
    "database": ("services", "manage_database"),
    "command": ("services", "show_command"),
}


class Commands(TyperGroup):
    """The commands of COMMANDS. Only the requested one is imported: charts and analysis take
    seconds of CPU time to load, and `doctor` is also run on machines that are overloaded."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's signature
        """Every name, in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command of this name, if there is one."""
        if cmd_name not in COMMANDS:
            return None
        module, function = COMMANDS[cmd_name]
        family = importlib.import_module(f"restbench.commands.{module}")
        return typer.main.get_command(single_command_app(getattr(family, function), cmd_name))


def single_command_app(function: Callable[..., None], name: str | None = None) -> typer.Typer:
    """A command line of this function only."""
    made = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=HELP_OPTIONS)
    made.command(name)(function)
    return made


HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    help=HELP.format(codes="\n".join(f"  {each.value:<5}{each.meaning}" for each in ExitCode)),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=HELP_OPTIONS,
    cls=Commands,
)


@app.callback()
def _all_commands() -> None:
    """Typer asks for a function; HELP is what is shown."""


INTERRUPTING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
errors = Console(stderr=True, highlight=False)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    # From here on all processes are stopped, in bounded time: a second Ctrl-C must not prevent it.
    for each in INTERRUPTING:
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted("interrupted: all started processes are stopped")


def _listen_to_signals() -> None:
    for each in INTERRUPTING:
        if signal.getsignal(each) is not signal.SIG_IGN:  # nohup ignores SIGHUP: so do we
            signal.signal(each, _interrupt)


def main(command: typer.Typer = app) -> None:
    """Run the command line; every failure becomes one line and its exit code here."""
    _listen_to_signals()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a locale without "→" must not end a run
    try:
        command(standalone_mode=True)
    except OutputClosed as closed:
        sys.exit(closed.exit_code)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # click ends with 1, a fault of ours
            sys.exit(OutputClosed.exit_code)
        raise
    except (Failure, Interrupted) as failure:
        _end(failure)
    except OSError as error:
        # Code that writes a figure or a dashboard may find the disk full.
        if (found := storage.problem(error) or _wrong_name(error)) is None:
            raise
        _end(found)


def _wrong_name(error: OSError) -> BadConfiguration | None:
    """The failure to report where the name of a file or folder cannot be used; else None."""
    mends = {
        errno.EACCES: "give yourself the right to use it",
        errno.ENAMETOOLONG: "give a shorter one",
        errno.ENOTDIR: "name a folder",
    }
    mend = mends.get(error.errno or 0)
    return BadConfiguration(f"{error.filename}: {error.strerror}: {mend}") if mend else None


def _end(failure: Failure | Interrupted) -> NoReturn:
    errors.print(f"restbench: {failure}", style="red", markup=False, soft_wrap=True)
    sys.exit(failure.exit_code)
