"""Which technique comes first in each group of cells, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.experiment.cell import Cell
from restbench.judge import answer, study
from restbench.judge.leader import Leader
from restbench.judge.verdicts import ratio_text
from restbench.show.document import (
    DOUBT,
    GOOD,
    SOFT,
    Bullets,
    Field,
    Link,
    Section,
    Table,
    section,
    table,
)
from restbench.show.findings import Findings

_HEAD = ("Service", "Complexity", "Users", "First", "Next", "Times the next [95 %]", "Verdict")


def of(found: Findings) -> Section | None:
    """The answer in full: where which technique is best, in words and by two metrics."""
    if found.run.answer is None or not found.run.answer.places:
        return None
    leading = answer.answer(found.rows)
    return section(
        "places",
        "Which technique is fastest for which size and how many users",
        Bullets(found.run.answer.places),
        _table("First by throughput", leading.by_throughput),
        _table("First by CPU time per request", leading.by_cpu_time)
        if leading.by_cpu_time
        else None,
        folded=True,
    )


def _table(caption: str, leaders: Sequence[Leader]) -> Table:
    rows = [
        (
            each.scope,
            each.complexity,
            str(each.users),
            Field(_link(each.best)),
            Field(_link(each.others[0][0]) if each.others else ""),
            ratio_text(each.comparison) if each.comparison else "",
            Field(each.text, tone=GOOD if each.verdict == "reproduced" else SOFT),
            Field(_notes(each), tone=DOUBT if each.warned else ""),
        )
        for each in leaders
    ]
    return table(caption, [*_HEAD, "To know"], rows, "  n  n")


def _link(cell: Cell) -> Link:
    return Link(study.technique(cell), f"#cell-{cell.id}")


def _notes(leader: Leader) -> str:
    tied = ", ".join(study.technique(cell) for cell in leader.tied)
    notes = [
        f"not shown to be better than {tied}" if tied else "",
        f"warnings: {'; '.join(leader.warned)}" if leader.warned else "",
        f"no number: {', '.join(leader.missing)}" if leader.missing else "",
    ]
    return ". ".join(note for note in notes if note)
