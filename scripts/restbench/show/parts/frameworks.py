"""What a web framework costs, and from which size of work on nothing."""

from __future__ import annotations

from restbench.analyse import frameworks as analysis
from restbench.show import frameworks
from restbench.show.document import Bullets, Section, Text, section
from restbench.show.findings import Findings


def of(found: Findings) -> Section | None:
    """The sizes from which on it does not matter, the charts, and a table a service."""
    loads = frameworks.by_users(analysis.loads(found.rows))
    services = dict.fromkeys(each.cell.service for each in loads)
    return section(
        "frameworks",
        "What does the web framework cost?",
        Bullets(tuple(map(frameworks.outcome, loads))) if loads else None,
        *found.figures("frameworks"),
        *(frameworks.table_of(each, loads) for each in services),
        Text(frameworks.HOW_TO_READ) if loads else None,
    )
