"""How long loads went: verdicts, courses with what happened, and what the database said."""

from __future__ import annotations

from restbench.show import trace
from restbench.show.document import Section, Text, section
from restbench.show.findings import Findings


def of(found: Findings) -> Section | None:
    """None where the run has no trace."""
    known = trace.known(found.run, found.rows)
    if not known:
        return None
    cells = {row.cell.id: row.cell for row in found.rows}
    return section(
        "traces",
        "How did it go over time?",
        trace.claims(found.definition, found.run, found.rows),
        *found.figures("trace"),
        trace.summary(known, found.rows),
        Text(trace.HOW_TO_READ),
        *(
            section(
                f"trace-{n}",
                f"What happened: {trace.name_of(cells[name], each)}",
                *trace.tables(each),
                folded=True,
            )
            for n, (name, each) in enumerate(known.items(), start=1)
        ),
    )
