"""What limits a closed load: each technique in words, the charts, and a line a cell."""

from __future__ import annotations

from restbench.show import bottleneck
from restbench.show.document import Bullets, Section, Text, section
from restbench.show.findings import Findings

#: So many sentences are read before the charts; more are folded.
_FEW = 12


def of(found: Findings) -> Section | None:
    """None where no tier was observed."""
    known = bottleneck.families(found.run, found.rows)
    if not known:
        return None
    words = Bullets(tuple(map(bottleneck.sentence, known)))
    folded = section("bottleneck-words", "Each technique", words, folded=True)
    return section(
        "bottleneck",
        "What is the bottleneck?",
        Text(bottleneck.summary(known)),
        words if len(known) <= _FEW else folded,
        *found.figures(bottleneck.NAME),
        bottleneck.table_of(known),
        Text(bottleneck.HOW_TO_READ),
    )
