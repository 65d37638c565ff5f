"""Two builds compared: every ratio with its threshold."""

from __future__ import annotations

from restbench.show import builds
from restbench.show.document import BAD, DOUBT, GOOD, Field, Section, Text, section, table
from restbench.show.findings import Findings

_TONES = {"beyond": BAD, "no number": DOUBT, "undecided": DOUBT, "within": GOOD}


def of(found: Findings) -> Section | None:
    """None of a run that compared no builds."""
    comparison = builds.of(found.definition, found.rows, found.run.manifest)
    if comparison is None:
        return None
    rows: list[tuple[Field | str, ...]] = [
        (*values, Field(verdict, tone=_TONES.get(verdict, DOUBT)))
        for *values, verdict in comparison.lines
    ]
    text = Text(
        "Ratios are paired by block. A verdict is 'beyond' where the whole 95 % interval lies "
        "beyond the threshold (Holm over all ratios), 'within' where the 90 % interval does not "
        "reach over it."
    )
    ratios = table("B against A", comparison.HEAD, rows, "  nnn")
    return section("builds", "Is B worse than A?", text, ratios)
