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
from restbench.show.npb import Kernels, by_technique, explanation, number, soap

_RATIOS = ("service/fresh", "service/warm")


def show(found: Kernels) -> RenderableType:
    """A table a technique, and why they differ."""
    parts: list[RenderableType] = []
    for cell, rows in by_technique(found.served).items():
        parts += [_table(cell, rows, found.published), ""]
    return Group(*parts, *map(Text, (*explanation(found.served), *soap(found.served))))


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
        ratios = (npb.ratio(row, each).estimate for each in _RATIOS)
        table.add_row(
            row.cell.complexity,
            *(number(npb.median(row, name)) for name in numbers),
            {"yes": "ok", "not measured": "-"}.get(verified, verified),
            *map(readable, ratios),
            readable(known.ratio) if known else "",
        )
    return table
