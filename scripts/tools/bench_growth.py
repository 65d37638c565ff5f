"""`bench-growth`: does anything take more for a larger size than it should?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Group

from restbench import cli
from restbench.analyse.warnings import FOREIGN_LIMIT_PCT
from restbench.commands.options import console
from restbench.failures import CellsFailed, GrowsTooFast
from restbench.machine import machine
from restbench.show.document import Column, number, table
from restbench.show.progress import duration
from restbench.show.terminal import drawn
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
    by_server = {name: [each for each in found if each.series.server == name] for name in servers}
    return Group(*(drawn(table(name, _COLUMNS, fits)) for name, fits in by_server.items()))


def _least_ms(fit: Fit, end: int) -> str:
    """Of all rounds, at one end of the sizes."""
    return f"{min(values[end] for values in fit.series.rounds):.3g}"


def _exponent(fit: Fit) -> str:
    found = fit.exponent
    return "" if found is None else f"{found.mean:.2f} ± {found.half_width:.2f}"


_COLUMNS: Sequence[Column[Fit]] = (
    Column("What", lambda fit: fit.series.what),
    Column("Over", lambda fit: f"{fit.series.over} {fit.series.sizes[0]}-{fit.series.sizes[-1]}"),
    number("First", lambda fit: _least_ms(fit, 0)),
    number("Last", lambda fit: _least_ms(fit, -1)),
    number("Exponent", _exponent),
    number("Allowed", lambda fit: f"{fit.series.expected:g}"),
    Column("", lambda fit: fit.verdict),
)


if __name__ == "__main__":
    cli.main(cli.alone(bench_growth))
