"""The claims of the study, held against the run: those that were decided, with a chart; the others
folded away."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.judge.claims import WORDS
from restbench.judge.verdicts import DECIDED
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.findings import Findings
from restbench.store.quoted import ClaimEntry, PartEntry

TONES = {
    "reproduced": doc.GOOD,
    "contradicted": doc.BAD,
    "no-effect": doc.BAD,
    "smaller-than-margin": doc.BAD,
    "too-imprecise": doc.DOUBT,
    "not-measurable": doc.DOUBT,
    "not-measured": doc.SOFT,
}


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


def of(found: Findings) -> list[doc.Section | None]:
    """The decided claims; then, folded, those that are not."""
    claims = found.run.claims
    known = decided(claims)
    rest = [each for each in claims if each not in known]
    if not claims:
        return []
    title = f"What the study claims, and this run decides: {tally(claims)}"
    none = "This run decides none of the study's claims."
    return [
        doc.Section(
            "claims",
            title if known else none,
            (
                doc.Text(_intro(found)),
                *found.figures("claims"),
                *(_claim(each, found) for each in known),
            ),
        ),
        doc.section(
            "undecided",
            f"{len(rest)} claims that this run does not decide",
            *(_claim(each, found) for each in rest),
            folded=True,
        ),
    ]


def _intro(found: Findings) -> doc.Inline:
    link = found.link(found.folder.claims_file, "file of claims and tests")
    file: str | doc.Link = link or "file of claims and tests"
    sha256 = found.run.experiment.claims_sha256 or "unknown"
    return (
        "Each claim is a set of ratios, tested as the ",
        file,
        f" says, fixed before the run (sha256 {sha256[:16]}). Open a claim for its ratios.",
    )


def _claim(claim: ClaimEntry, found: Findings) -> doc.Section:
    parts: list[doc.Part] = [doc.Text(claim.why)]
    if claim.parts:
        parts.append(doc.table(f"The ratios of {claim.id}", _COLUMNS, claim.parts))
    if claim.reading:
        parts.append(doc.Text(f"How it is tested: {claim.reading}"))
    if claim.warned:
        parts += [doc.Text("Warnings on what is behind it:"), doc.Bullets(claim.warned)]
    if claim.cells:
        parts.append(doc.Text(("Cells: ", *_cells(claim.cells, found))))
    return doc.Section(
        f"claim-{claim.id}",
        f"{claim.id}: {claim.text}",
        tuple(parts),
        folded=True,
        badge=claim.headline,
        tone=TONES[claim.verdict],
    )


def _cells(cells: Sequence[str], found: Findings) -> list[str | doc.Link]:
    known = {each.id for each in found.run.cells}
    inlines: list[str | doc.Link] = []
    for each in cells:
        inlines += [", "] if inlines else []
        inlines.append(
            doc.Link(each, f"#cell-{each}") if each in known else f"{each} (not in this run)"
        )
    return inlines


_COLUMNS: Sequence[doc.Column[PartEntry]] = (
    doc.Column("Ratio", lambda part: part.label),
    doc.Column("Of", lambda part: WORDS[part.metric] + ("" if part.decides else " (not deciding)")),
    doc.Column("Expected", lambda part: part.expect),
    doc.number("Here [95 %]", lambda part: wording.with_ends(part.ratio, part.low, part.high)),
    doc.number("The study", lambda part: part.study_value),
    doc.Column("Verdict", lambda part: doc.Field(part.headline, TONES[part.verdict])),
)
