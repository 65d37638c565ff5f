"""What an NPB run has found, for a terminal of 100 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from restbench.analyse.npb_results import NpbRow, failures, meanings
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.experiment.npb_published import Published
from restbench.judge import npb
from restbench.show import terminal
from restbench.show.npb_report import RATIOS_SHOWN, Findings, by_technique, number


def show(found: Findings) -> RenderableType:
    """The tables for the terminal; the claims last, where they are seen first."""
    parts: list[RenderableType] = []
    for cell, rows in by_technique(found.served).items():
        parts += [_table(cell, rows, found.published), ""]
    parts += [Text(f"FAILED  {each}", style="yellow") for each in failures(found.rows)]
    parts += [Text(f"{flag}: {text}") for flag, text in meanings(found.rows).items()]
    parts += ["", *terminal.claims(found.decisions)]
    parts += [Text(each.replace("**", "")) for each in npb.explanation(found.rows)]
    return Group(*parts)


def _table(cell: Cell, rows: Sequence[NpbRow], published: Published) -> Table:
    title = (
        f"{cell.service} {cell.strategy}: seconds, medians over rounds; study on its own machine"
    )
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("", no_wrap=True)
    headings = ("Fresh", "Warm", "In service", "At client", "Mop/s", "", "svc/fresh", "svc/warm")
    for heading in (*headings, "Study"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        known = published.row(row.work.level)
        numbers = ("fresh_s", "warm_s", "service_s", "client_s", "mops")
        ratios = (npb.ratio(row, each).estimate for each in RATIOS_SHOWN[:2])
        table.add_row(
            row.work.level,
            *(number(row.median(name)) for name in numbers),
            "ok" if row.verified == "yes" else row.verified,
            *map(readable, ratios),
            readable(known.ratio) if known else "",
        )
    return table
