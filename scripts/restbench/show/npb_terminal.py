"""What is shown of NAS kernels in a terminal of 100 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from restbench.analyse import npb
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.experiment.npb import Published
from restbench.show import terminal
from restbench.show.npb import (
    RATIOS_SHOWN,
    Findings,
    by_technique,
    explanation,
    meanings_of,
    number,
)


def show(found: Findings) -> RenderableType:
    """The tables for the terminal; the claims last, where they are seen first."""
    parts: list[RenderableType] = []
    for cell, rows in by_technique(found.served).items():
        parts += [_table(cell, rows, found.published), ""]
    parts += [Text(f"FAILED  {each}", style="yellow") for each in npb.failures(found.rows)]
    parts += [Text(each.replace("**", "")) for each in meanings_of(found.rows)]
    parts += ["", *terminal.claims_table(found.decisions, "tables/npb.md")]
    parts += [Text(each.replace("**", "")) for each in explanation(found.served)]
    return Group(*parts)


def _table(cell: Cell, rows: Sequence[Row], published: Published) -> Table:
    title = (
        f"{cell.service} {cell.strategy}: seconds, medians over blocks; study on its own machine"
    )
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("", no_wrap=True)
    headings = ("Fresh", "Warm", "In service", "At client", "Mop/s", "", "svc/fresh", "svc/warm")
    for heading in (*headings, "Study"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        known, verified = published.row(row.cell.complexity), npb.verified(row)
        numbers = ("fresh_s", "warm_s", "service_s", "client_s", "mops")
        ratios = (npb.ratio(row, each).estimate for each in RATIOS_SHOWN[:2])
        table.add_row(
            row.cell.complexity,
            *(number(npb.median(row, name)) for name in numbers),
            "ok" if verified == "yes" else verified,
            *map(readable, ratios),
            readable(known.ratio) if known else "",
        )
    return table
