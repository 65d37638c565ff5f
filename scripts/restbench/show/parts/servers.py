"""What stands around the techniques: the web framework, several instances, numbers of workers."""

from __future__ import annotations

from restbench.analyse import frameworks as costs
from restbench.analyse import instances as arranged
from restbench.show import frameworks, instances, workers
from restbench.show.document import Bullets, Section, Text, section
from restbench.show.findings import Findings

_HOW_TO_READ = (
    "A core is a hardware thread that the service may use. Which worker accepts a kept connection "
    "keeps it, so users of a trial draw their connections anew, several times in a block."
)


def of_frameworks(found: Findings) -> Section | None:
    """The sizes from which on it does not matter, the charts, and a table a service."""
    loads = frameworks.by_users(costs.loads(found.rows))
    return section(
        "frameworks",
        "What does the web framework cost?",
        Bullets(tuple(map(frameworks.outcome, loads))) if loads else None,
        *found.figures("frameworks"),
        *(
            frameworks.table_of(each, loads)
            for each in dict.fromkeys(load.cell.service for load in loads)
        ),
        Text(frameworks.HOW_TO_READ) if loads else None,
    )


def of_instances(found: Findings) -> Section | None:
    """The charts, and a table a service."""
    if not (tables := instances.tables(arranged.loads(found.rows))):
        return None
    title, how = "What do several instances bring?", Text(instances.HOW_TO_READ)
    return section("instances", title, *found.figures("instances"), *tables, how)


def of_workers(found: Findings) -> Section | None:
    """What the grids come to, the heat maps, and the study's table as ratios."""
    if (known := found.definition.workers) is None:
        return None
    grids = workers.grids_of(found.run, found.rows)
    lines = [line for grid in grids for line in workers.sentences(grid)]
    return section(
        "workers",
        "How many workers, for how many users?",
        Bullets(tuple(lines)) if lines else None,
        *found.figures("workers"),
        Text(_HOW_TO_READ),
        workers.next_to(known, grids),
        Text(f"Published: {known.source}."),
        Bullets((*known.shows, *known.faults)) if known.shows or known.faults else None,
    )
