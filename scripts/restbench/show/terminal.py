"""The results of a run for a terminal of 100 columns: the sentence, a compact table with intervals,
and what to know before believing them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich import table as rich
from rich.console import Group, JustifyMethod, OverflowMethod, RenderableType
from rich.padding import Padding
from rich.text import Text

from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.failures import counted
from restbench.judge import answer, study
from restbench.judge.leader import Leader
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.findings import Findings
from restbench.show.parts import claims
from restbench.show.parts.cells import RATIO_TO_NEXT
from restbench.store.quoted import ClaimEntry

#: With more cells than this, the table has a line per size and number of users instead of cell.
MOST_LISTED = 16
_STYLES = {doc.GOOD: "green", doc.BAD: "bold red", doc.WARNING: "yellow", doc.SOFT: "", "": ""}


def render(found: Findings) -> RenderableType:
    """The results in the page's order: sentence, tables, claims, and last why to believe it."""
    stored = found.run.answer
    parts: list[RenderableType] = [Text(stored.sentence, style="bold"), ""] if stored else []
    parts += [*_tables(found), ""]
    for note in filter(None, (view.note(its) for view, its in found.views)):
        parts += [Text(note), ""]
    parts += _claims(found.run.claims)
    parts += [Text(f"FAILED  {each}", style="yellow") for each in study.failures(found.rows)]
    if waiting := study.not_measured(found.rows):
        cells = counted(len(waiting), "cell", "needs", "need")
        parts.append(Text(f"{cells} more time: the page says how much"))
    parts += [
        Text(
            f"{study.verdict(each)}  {each.service} {each.strategy}, {each.claim}: {each.evidence}"
        )
        for each in found.run.proofs
        if not each.does
    ]
    parts += [Padding(Text(each), (0, 0, 0, 2)) for each in (stored.reasons if stored else ())]
    return Group(*parts)


def drawn(shown: doc.Table, wrapped: Collection[str] | None = None) -> rich.Table:
    """A table of the page, for the terminal. Where it is too wide, the columns with the headings
    `wrapped` are wrapped, by default all."""
    title = Text(shown.caption, "bold")
    made = rich.Table(box=None, pad_edge=False, title=title, title_justify="left")
    for column in shown.columns:
        stays = wrapped is not None and column.heading not in wrapped
        justify: JustifyMethod = "right" if column.is_number else "left"
        # A name must not lose its end, which may be all that tells it from another.
        rest: OverflowMethod = "ellipsis" if stays else "fold"
        made.add_column(Text(column.heading), justify=justify, no_wrap=stays, overflow=rest)
    for row in shown.rows:
        made.add_row(*(Text(doc.words(each), _STYLES[each.tone]) for each in row))
    return made


def _tables(found: Findings) -> Sequence[RenderableType]:
    """The tables of the first view that has any; else a table with a line per cell or, where there
    are many cells, per group."""
    for view, its in found.views:
        if special := view.terminal(its):
            return [drawn(each) if isinstance(each, doc.Table) else Text(each) for each in special]
    leading = answer.answer(found.rows).by_throughput
    compared = [each for each in leading if each.others and each.scope != "both"]
    if len(found.rows) > MOST_LISTED and compared:
        return [drawn(_leaders(found.rows, compared), ("Shown",))]
    return [drawn(_cells(found.rows, leading), ("Technique", "Of the best"))]


def _cells(rows: Sequence[Row], leaders: Sequence[Leader]) -> doc.Table:
    shares = _shares(leaders)
    columns: list[doc.Column[Row]] = [
        doc.Column("", wording.service_name),
        doc.Column("Technique", _technique),
        doc.Column("Size", _size),
        doc.number("Users", lambda row: row.cell.users),
        doc.number("Requests/s [95 %]", _throughput),
        doc.number("Mean ms", lambda row: row.value("mean_ms")),
        doc.number("CPU ms", lambda row: row.value("cpu_ms_per_request")),
        doc.Column("Of the best", lambda row: shares.get(row.cell, "")),
    ]
    return doc.table("", columns, rows)


def _technique(row: Row) -> doc.Field:
    """The technique, with all levels of the cell that are not the usual ones: cells that differ in
    one of them have a line each."""
    cell = row.cell
    levels = (cell.strategy, *wording.placed(cell), *cell.unusual_parts)
    return doc.warning(", ".join(levels), row.warnings)


def _shares(leaders: Sequence[Leader]) -> dict[Cell, str]:
    """By cell: its throughput as a share of that of the service's best technique; for the best
    itself, the words that say so. A technique that is alone in its group has neither."""
    found: dict[Cell, str] = {}
    for leader in leaders:
        if leader.scope == "both" or len(leader.cells) == 1:
            continue
        found[leader.best] = "best" if leader.is_shown else "first, not shown to be best"
        for cell, comparison in leader.others:
            if comparison.estimate:
                found[cell] = f"{1 / comparison.estimate:.2f}"
    return found


def _leaders(rows: Sequence[Row], leaders: Sequence[Leader]) -> doc.Table:
    """A line for each service, size and number of users: the first technique and its lead."""
    known = {row.cell: row for row in rows}
    columns: list[doc.Column[Leader]] = [
        doc.Column("", lambda each: doc.warning(each.scope.capitalize(), each.warned)),
        doc.Column("Size", lambda each: _size(known[each.best])),
        doc.number("Users", lambda each: each.best.users),
        doc.Column("Fastest", lambda each: each.best.strategy),
        doc.number("Requests/s [95 %]", lambda each: _throughput(known[each.best])),
        RATIO_TO_NEXT,
        doc.Column("Shown", lambda each: "yes" if each.is_shown else "not yet"),
    ]
    return doc.table("", columns, leaders)


def _size(row: Row) -> str:
    return f"{row.shape.rows} rows" if row.shape else row.cell.complexity


def _throughput(row: Row) -> str:
    return wording.mean(row, "throughput_per_s") if row.measured else "no number"


def _claims(found: Sequence[ClaimEntry]) -> list[RenderableType]:
    """A row for each claim that was decided; the others are counted."""
    decided = claims.decided(found)
    rest = len(found) - len(decided)
    parts: list[RenderableType] = []
    if decided:
        parts += [drawn(doc.table("Decided claims", _CLAIMS, decided)), ""]
    if rest:
        count = counted(rest, "claim", "is", "are")
        parts += [Text(f"{count} not decided: the page says what it would take."), ""]
    return parts


_CLAIMS: Sequence[doc.Column[ClaimEntry]] = (
    doc.Column("", lambda claim: claim.id),
    doc.Column("Claim", lambda claim: claim.text),
    doc.Column("Verdict", lambda claim: doc.Field(claim.headline, claims.TONES[claim.verdict])),
)
