"""What a run came to, for a terminal of 100 columns: the sentence, a compact table with intervals,
what to know before believing it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from restbench.analyse import frameworks as costs
from restbench.analyse import instances as arranged
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.judge import answer, study
from restbench.judge.leader import Leader
from restbench.judge.verdicts import DECIDED, ratio_text
from restbench.show import (
    bottleneck,
    builds,
    calls,
    document,
    faults,
    frameworks,
    instances,
    limits,
    messages,
    npb,
    npb_terminal,
    trace,
)
from restbench.show.findings import Findings

#: More cells than that are summed up: a line for each size and number of users.
MOST_LISTED = 16
_STYLES = {"reproduced": "green", "contradicted": "bold red", "too-imprecise": "yellow"}


class Claim(Protocol):
    """A claim with what a run says of it."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def verdict(self) -> str: ...  # noqa: D102
    @property
    def headline(self) -> str: ...  # noqa: D102


def render(found: Findings) -> RenderableType:
    """The story of the page: sentence, table, claims, and why to believe it, last."""
    stored = found.run.answer
    parts: list[RenderableType] = [Text(stored.sentence, style="bold"), ""] if stored else []
    parts += [_table(found), ""]
    if "bottleneck" in found.definition.views:
        parts += [Text(bottleneck.summary(bottleneck.families(found.run, found.rows))), ""]
    if said := trace.claims(found.definition, found.run, found.rows):
        parts += [narrow(said, range(5)), ""]
    parts += claims(found.run.claims)
    parts += [Text(f"FAILED  {each}", style="yellow") for each in study.failures(found.rows)]
    if waiting := study.not_measured(found.rows):
        parts.append(Text(f"{len(waiting)} cells need more time: report.md has how much"))
    parts += [
        Text(
            f"{study.verdict(each)}  {each.service} {each.strategy}, {each.claim}: {each.evidence}"
        )
        for each in found.run.proofs
        if not each.does
    ]
    parts += [Padding(Text(each), (0, 0, 0, 2)) for each in (stored.reasons if stored else ())]
    return Group(*parts)


def _table(found: Findings) -> RenderableType:  # noqa: PLR0911 - a view each
    if found.definition.npb is not None:
        return npb_terminal.show(npb.findings(found.run))
    if found.definition.calls is not None:
        return Group(*(narrow(each, range(6)) for each in calls.tables(found.rows)))
    if found.definition.faults is not None:
        return Group(*(narrow(each, faults.NARROW) for each in faults.tables(found.rows)))
    if "messages" in found.definition.views:
        shown = messages.narrow(found.rows)
        return Group(*(narrow(each, shown) for each in messages.tables(found.rows)))
    if found.definition.open is not None:
        return limits.terminal(limits.of(found.run), found.definition.open)
    if traces := trace.known(found.run, found.rows):
        return narrow(trace.summary(traces, found.rows), trace.NARROW)
    if servers := _servers(found):
        return Group(*servers)
    if (two := builds.of(found.definition, found.rows, found.run.manifest)) is not None:
        return builds.terminal(two)
    leading = answer.answer(found.rows)
    if len(found.rows) > MOST_LISTED and leading.by_throughput:
        compared = [each for each in leading.by_throughput if each.others and each.scope != "both"]
        return _leaders(found.rows, compared)
    return _cells(found.rows, leading.by_throughput)


def _servers(found: Findings) -> list[RenderableType]:
    """A table a service: of frameworks with its most users, then what each load comes to; or of
    several instances."""
    if "frameworks" not in found.definition.views:
        tables = instances.tables(arranged.loads(found.rows))
        return [narrow(each, instances.NARROW) for each in tables]
    loads = costs.loads(found.rows)
    return [
        *(
            narrow(frameworks.table_of(load.cell.service, [load]), range(7))
            for load in frameworks.with_most_users(loads)
        ),
        *(Text(frameworks.outcome(each)) for each in frameworks.by_users(loads)),
    ]


def narrow(shown: document.Table, columns: Iterable[int]) -> Table:
    """These columns of a page's table, of the rows that have a number in the last."""
    made = Table(box=None, pad_edge=False, title=shown.caption, title_justify="left")
    for n in columns:
        column = shown.columns[n]
        made.add_column(Text(column.heading), justify="right" if column.is_number else "left")
    for row in shown.rows:
        fields = [Text(document.words(row[n])) for n in columns]
        if fields[-1]:
            made.add_row(*fields)
    return made


def _cells(rows: Sequence[Row], leaders: Sequence[Leader]) -> Table:
    """Every cell."""
    table = _new(
        "Technique", "Size", "Users", "Requests/s [95 %]", "Mean ms", "CPU ms", "Of the best"
    )
    shares = _shares(leaders)
    for row in rows:
        table.add_row(
            study.technique(row.cell),
            _size(row),
            str(row.cell.users),
            _with_ends(row, "throughput_per_s"),
            readable(row.value("mean_ms")),
            readable(row.value("cpu_ms_per_request")),
            shares.get(row.cell, ""),
            style="yellow" if row.warnings else None,
        )
    return table


def _shares(leaders: Iterable[Leader]) -> dict[Cell, str]:
    """Of each service: the share of the best's throughput; of the best that it is that."""
    found: dict[Cell, str] = {}
    for leader in leaders:
        if leader.scope == "both":
            continue
        found[leader.best] = "best" if leader.is_shown else "first, not shown to be best"
        for cell, comparison in leader.others:
            if comparison.estimate:
                found[cell] = f"{1 / comparison.estimate:.2f}"
    return found


def _leaders(rows: Sequence[Row], leaders: Sequence[Leader]) -> Table:
    """A line for each service, size and number of users: who is first, and how far ahead."""
    known = {row.cell: row for row in rows}
    table = _new(
        "", "Size", "Users", "Fastest", "Requests/s [95 %]", "Times the next [95 %]", "Shown"
    )
    for each in leaders:
        row = known[each.best]
        table.add_row(
            each.scope.capitalize(),
            _size(row),
            str(each.users),
            each.best.strategy,
            _with_ends(row, "throughput_per_s"),
            Text(ratio_text(each.comparison) if each.comparison else ""),
            "yes" if each.is_shown else "not yet",
            style="yellow" if each.warned else None,
        )
    return table


def _new(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, title_justify="left", caption_justify="left")
    for heading in headings:
        if heading in ("Users", "Mean ms", "CPU ms") or "[" in heading:
            table.add_column(Text(heading), justify="right", no_wrap=True)
        else:
            table.add_column(Text(heading), no_wrap=heading != "Of the best")
    return table


def _size(row: Row) -> str:
    return f"{row.shape.rows} rows" if row.shape else row.cell.complexity


def _with_ends(row: Row, metric: str) -> Text:
    low, high = row.ends(metric)
    ends = f" [{readable(low)}, {readable(high)}]" if low is not None else ""
    return Text(f"{readable(row.value(metric))}{ends}" if row.measured else "no number")


def claims(found: Sequence[Claim]) -> list[RenderableType]:
    """A row for each claim that was decided; the others are counted."""
    decided = [each for each in found if each.verdict in DECIDED]
    rest = len(found) - len(decided)
    parts: list[RenderableType] = []
    if decided:
        table = Table(box=None, pad_edge=False, title="Claims decided", title_justify="left")
        for heading in ("", "What it says", "Verdict"):
            table.add_column(heading)
        for each in decided:
            style = _STYLES.get(each.verdict, "")
            table.add_row(Text(each.id), Text(each.text), Text(each.headline, style=style))
        parts += [table, ""]
    if rest:
        count = "1 claim is" if rest == 1 else f"{rest} claims are"
        parts += [Text(f"{count} not decided: the page has what it would take."), ""]
    return parts
