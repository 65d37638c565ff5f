"""Which technique comes first in each group of cells, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.experiment.cell import Cell
from restbench.judge import answer, study
from restbench.judge.leader import Leader
from restbench.judge.verdicts import ratio_text
from restbench.show import document as doc
from restbench.show.findings import Findings


def of(found: Findings) -> doc.Section | None:
    """Where which technique is best, in words, as the picture where another stands on the first
    screen, and by two metrics."""
    if found.run.answer is None or not found.run.answer.places:
        return None
    leading = answer.answer(found.rows)
    return doc.section(
        "places",
        "Which technique is fastest for which size and how many users",
        doc.Bullets(found.run.answer.places),
        *found.figures("overview"),
        doc.table("First by throughput", _COLUMNS, leading.by_throughput),
        doc.table("First by CPU time per request", _COLUMNS, leading.by_cpu_time),
        folded=True,
    )


def _link(cell: Cell) -> doc.Link:
    return doc.cell_link(cell, study.technique(cell))


def _notes(leader: Leader) -> doc.Field:
    tied = ", ".join(study.technique(cell) for cell in leader.tied)
    notes = [
        f"not shown to be better than {tied}" if tied else "",
        f"warnings: {'; '.join(leader.warned)}" if leader.warned else "",
        f"no number: {', '.join(leader.missing)}" if leader.missing else "",
    ]
    return doc.Field(". ".join(filter(None, notes)), doc.DOUBT if leader.warned else "")


def _verdict(leader: Leader) -> doc.Field:
    return doc.Field(leader.text, doc.GOOD if leader.verdict == "reproduced" else doc.SOFT)


_COLUMNS: Sequence[doc.Column[Leader]] = (
    doc.Column("Service", lambda each: each.scope),
    doc.Column("Complexity", lambda each: each.complexity),
    doc.number("Users", lambda each: each.users),
    doc.Column("First", lambda each: _link(each.best)),
    doc.Column("Next", lambda each: _link(each.others[0][0]) if each.others else ""),
    doc.number(
        "Times the next [95 %]",
        lambda each: ratio_text(each.comparison) if each.comparison else "",
    ),
    doc.Column("Verdict", _verdict),
    doc.Column("To know", _notes),
)
