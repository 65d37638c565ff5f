"""The claims of the study, held against the run: those that were decided, with a chart; the others
folded away."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.experiment.columns import readable
from restbench.judge.claims import WORDS
from restbench.judge.verdicts import DECIDED
from restbench.show.document import (
    BAD,
    DOUBT,
    GOOD,
    SOFT,
    Bullets,
    Field,
    Inline,
    Link,
    Part,
    Section,
    Table,
    Text,
    section,
    table,
)
from restbench.show.findings import Findings
from restbench.store.quoted import ClaimEntry, PartEntry

TONES = {
    "reproduced": GOOD,
    "contradicted": BAD,
    "no-effect": BAD,
    "smaller-than-margin": BAD,
    "too-imprecise": DOUBT,
    "not-measurable": DOUBT,
    "not-measured": SOFT,
}
_HEAD = ("Ratio", "Of", "Expected", "Here [95 %]", "The study", "Verdict")


def decided(claims: Sequence[ClaimEntry]) -> list[ClaimEntry]:
    """Those that more time would not change."""
    return [each for each in claims if each.verdict in DECIDED]


def tally(claims: Sequence[ClaimEntry]) -> str:
    """`3 reproduced, 1 contradicted`, the most frequent first; all that were decided."""
    counts: dict[str, int] = {}
    for each in decided(claims):
        counts[each.verdict] = counts.get(each.verdict, 0) + 1
    ranked = sorted(counts.items(), key=lambda each: -each[1])
    return ", ".join(f"{count} {verdict.replace('-', ' ')}" for verdict, count in ranked)


def of(found: Findings) -> list[Section | None]:
    """The decided claims; then, folded, those that are not."""
    claims = found.run.claims
    known = decided(claims)
    rest = [each for each in claims if each not in known]
    if not claims:
        return []
    title = f"What the study claims, and this run decides: {tally(claims)}"
    none = "This run decides none of the study's claims."
    return [
        Section(
            "claims",
            title if known else none,
            (
                Text(_intro(found)),
                *found.figures("claims"),
                *(_claim(each, found) for each in known),
            ),
        ),
        section(
            "undecided",
            f"{len(rest)} claims that this run does not decide",
            *(_claim(each, found) for each in rest),
            folded=True,
        )
        if rest
        else None,
    ]


def _intro(found: Findings) -> Inline:
    link = found.link(found.folder.claims_file, "file of claims and tests")
    file: str | Link = link or "file of claims and tests"
    sha256 = found.run.experiment.claims_sha256 or "unknown"
    return (
        "Each claim is a set of ratios, tested as the ",
        file,
        f" says, fixed before the run (sha256 {sha256[:16]}). Open a claim for its ratios.",
    )


def _claim(claim: ClaimEntry, found: Findings) -> Section:
    parts: list[Part] = [Text(claim.why)]
    if claim.parts:
        parts.append(_ratios(claim))
    if claim.reading:
        parts.append(Text(f"How it is tested: {claim.reading}"))
    if claim.warned:
        parts += [Text("Warnings on what is behind it:"), Bullets(claim.warned)]
    if claim.cells:
        parts.append(Text(("Cells: ", *_cells(claim.cells, found))))
    return Section(
        f"claim-{claim.id}",
        f"{claim.id}: {claim.text}",
        tuple(parts),
        folded=True,
        badge=claim.headline,
        tone=TONES[claim.verdict],
    )


def _cells(cells: Sequence[str], found: Findings) -> list[str | Link]:
    known = {each.id for each in found.run.cells}
    inlines: list[str | Link] = []
    for each in cells:
        inlines += [", "] if inlines else []
        inlines.append(
            Link(each, f"#cell-{each}") if each in known else f"{each} (not in this run)"
        )
    return inlines


def _ratios(claim: ClaimEntry) -> Table:
    rows = [
        (
            each.label,
            WORDS[each.metric] + ("" if each.decides else " (not deciding)"),
            each.expect,
            ratio_text(each),
            readable(each.study_value),
            Field(each.headline, tone=TONES[each.verdict]),
        )
        for each in claim.parts
    ]
    return table(f"The ratios of {claim.id}", _HEAD, rows, "   nn")


def ratio_text(part: PartEntry) -> str:
    """`1.92 [1.85, 1.99]`; empty where a number is missing."""
    if part.ratio is None:
        return ""
    ends = f" [{readable(part.low)}, {readable(part.high)}]" if part.low is not None else ""
    return f"{readable(part.ratio)}{ends}"
