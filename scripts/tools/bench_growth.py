"""`bench-growth`: does anything take more for a larger size than it should?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from restbench import cli
from restbench.analyse.warnings import FOREIGN_LIMIT_PCT
from restbench.commands.options import console
from restbench.failures import CellsFailed, GrowsTooFast
from restbench.machine import machine
from restbench.show.progress import duration
from tools import growth
from tools.growth import Growth
from tools.growth_fit import TOLERANCE, Fit
from tools.growth_plan import plan_of
from tools.service_choice import OnlyServiceOption, OnlyStrategiesOption

READING = (
    "Over: the sizes that were fitted, without those too fast for the clock. First, last: the "
    "least value at the ends, in ms. Exponent b of value = a * size^b: "
    "least squares on logarithms in each round, 95 % t interval over rounds. It grows faster where "
    f"the whole interval is above the allowed exponent by more than {TOLERANCE:g}: caches that "
    "end, not algorithms, stay below that."
)


def bench_growth(
    profile: Annotated[str, typer.Option(metavar="NAME", help="quick, or smoke.")] = "quick",
    service: OnlyServiceOption = "",
    strategies: OnlyStrategiesOption = "",
) -> None:
    """See how time grows with the sizes."""
    begun = time.monotonic()
    found = growth.measure(
        plan_of(profile, service, strategies), lambda line: console.print(line, soft_wrap=True)
    )
    console.print(_tables(found.fits))
    console.print(READING)
    console.print(f"Others used {found.foreign_pct:.0f} % of the machine (median of looks).")
    console.print(machine.one_line(machine.describe()), soft_wrap=True)
    console.print(f"done in {duration(time.monotonic() - begun)}")
    judge(found)


def judge(found: Growth) -> None:
    """CellsFailed where something could not be measured, else GrowsTooFast where anything does."""
    if found.failures:
        raise CellsFailed(f"not measured: {'; '.join(found.failures)}")
    faster = [each for each in found.fits if each.verdict == "grows faster"]
    if faster:
        subjects = "; ".join(
            f"{each.server}: {each.what} ({each.over})" for each in (fit.series for fit in faster)
        )
        raise GrowsTooFast(
            f"{len(faster)} of {len(found.fits)} grow faster than they should: {subjects}."
            f"{_busy(found)}"
        )


def _busy(found: Growth) -> str:
    """What to know of exponents from a machine that others used as well."""
    if found.foreign_pct <= FOREIGN_LIMIT_PCT:
        return ""
    return (
        f" Not to be believed: others used {found.foreign_pct:.0f} % of the machine, and a long "
        "request is interrupted oftener than a short one; measure again when it is quiet."
    )


def _tables(found: Sequence[Fit]) -> Group:
    """A table of each service and strategy."""
    servers = dict.fromkeys(each.series.server for each in found)
    return Group(
        *(_table(name, [each for each in found if each.series.server == name]) for name in servers)
    )


def _table(server: str, fits: Sequence[Fit]) -> Table:
    table = Table(title=server, title_justify="left", title_style="bold")
    for heading in ("What", "Over"):
        table.add_column(heading)
    for heading in ("First", "Last", "Exponent", "Allowed"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for each in fits:
        table.add_row(*(Text(cell) for cell in _line(each)))
    return table


def _line(fit: Fit) -> tuple[str, ...]:
    """The values at the ends are the least of all rounds, in milliseconds."""
    series, exponent = fit.series, fit.exponent
    first, last = (min(values[end] for values in series.rounds) for end in (0, -1))
    return (
        series.what,
        f"{series.over} {series.sizes[0]}-{series.sizes[-1]}",
        f"{first:.3g}",
        f"{last:.3g}",
        "" if exponent is None else f"{exponent.mean:.2f} ± {exponent.half_width:.2f}",
        f"{series.expected:g}",
        fit.verdict,
    )


if __name__ == "__main__":
    cli.main(cli.alone(bench_growth))
