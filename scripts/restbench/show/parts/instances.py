"""Several instances of a service against one."""

from __future__ import annotations

from restbench.analyse.instances import loads
from restbench.show import instances
from restbench.show.document import Section, Text, section
from restbench.show.findings import Findings


def of(found: Findings) -> Section | None:
    """The charts, and a table a service."""
    known = loads(found.rows)
    if not known:
        return None
    services = dict.fromkeys(each.cell.service for each in known)
    return section(
        "instances",
        "What do several instances bring?",
        *found.figures("instances"),
        *(instances.table_of(each, known) for each in services),
        Text(instances.HOW_TO_READ),
    )
