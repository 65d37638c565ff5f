"""How many workers, for how many users: heat maps, and the published table next to them."""

from __future__ import annotations

from restbench.show import workers
from restbench.show.document import Bullets, Section, Text, section
from restbench.show.findings import Findings

_HOW_TO_READ = (
    "A core is a hardware thread that the service may use. Which worker accepts a kept connection "
    "keeps it, so users of a trial draw their connections anew, several times in a block."
)


def of(found: Findings) -> Section | None:
    """What the grids come to, the heat maps, and the study's table as ratios."""
    known = found.definition.workers
    if known is None:
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
        Bullets(tuple(workers.of_published(known))),
    )
