"""The claims of the study, tested against the run: the decided ones with a chart, the others folded
away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from restbench.failures import counted
from restbench.judge.claims import WORDS
from restbench.judge.verdicts import DECIDED
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import forest, theme
from restbench.show.charts.forest import Entry
from restbench.show.findings import Findings
from restbench.store.quoted import ClaimEntry, PartEntry

#: The tone of each verdict, and the number of its colour and shape in charts.
_LOOKS = {
    "reproduced": (doc.GOOD, 0),
    "contradicted": (doc.BAD, 1),
    "no-effect": (doc.BAD, 4),
    "smaller-than-margin": (doc.BAD, 5),
    "not-measurable": (doc.WARNING, 7),
    "too-imprecise": (doc.WARNING, 6),
    "not-measured": (doc.SOFT, 6),
}
TONES = {verdict: tone for verdict, (tone, _) in _LOOKS.items()}
#: By the verdict in words.
STYLES = {verdict.replace("-", " "): number for verdict, (_, number) in _LOOKS.items()}


def decided(claims: Sequence[ClaimEntry]) -> list[ClaimEntry]:
    """The claims whose verdict more time would not change."""
    return [each for each in claims if each.verdict in DECIDED]


def of(found: Findings) -> list[doc.Section | None]:
    """The decided claims; then, folded, those that are not."""
    claims = found.run.claims
    known = decided(claims)
    rest = [each for each in claims if each not in known]
    if not claims:
        return []
    ranked = Counter(each.verdict.replace("-", " ") for each in known).most_common()
    tally = ", ".join(f"{count} {verdict}" for verdict, count in ranked)
    title = f"The study's claims that this run decides: {tally}"
    none = "This run decides none of the study's claims."
    return [
        doc.section(
            "claims",
            title if known else none,
            (*_intro(found), " Open a claim to see its ratios." * bool(known)),
            *found.figures("claims"),
            *(_claim(each, found) for each in known),
        ),
        doc.section(
            "undecided",
            f"{counted(len(rest), 'claim')} that this run does not decide",
            *(_claim(each, found) for each in rest),
            folded=True,
        ),
    ]


def _intro(found: Findings) -> tuple[str | doc.Link, ...]:
    file = "file of claims and tests"
    sha256 = found.run.experiment.claims_sha256 or "unknown"
    return (
        "Each claim is a set of ratios. How it is tested was fixed before the run in the ",
        found.link(found.folder.claims_file, file) or file,
        f" (sha256 {sha256[:16]}).",
    )


def _claim(claim: ClaimEntry, found: Findings) -> doc.Section | None:
    return doc.section(
        f"claim-{claim.id}",
        f"{claim.id}: {claim.text}",
        claim.why,
        doc.table(f"The ratios of {claim.id}", _COLUMNS, claim.parts),
        f"How it is tested: {claim.reading}" if claim.reading else None,
        "Warnings of its cells:" if claim.warned else None,
        list(claim.warned),
        ("Cells: ", *_cells(claim.cells, found)) if claim.cells else None,
        folded=True,
        badge=claim.headline,
        tone=TONES[claim.verdict],
    )


def _cells(cells: Sequence[str], found: Findings) -> list[str | doc.Link]:
    known = {each.id for each in found.run.cells}
    named = (
        doc.Link(each, f"#cell-{each}") if each in known else f"{each} (not in this run)"
        for each in cells
    )
    return [part for each in named for part in (", ", each)][1:]


def chart(entries: Sequence[ClaimEntry]) -> theme.Chart | None:
    """The ratio of each part of the claims that were decided; None where none was."""
    parts = [
        entry(claim, part)
        for claim in decided(entries)
        for part in claim.parts
        if part.decides and part.ratio is not None
    ]
    return forest.chart(
        "claims-ratios",
        "The decided claims",
        "Each line is a claim, each symbol one of the ratios that decide it, with its 95 % "
        "interval. The band is the margin within which a difference does not count. A hollow "
        "symbol has no interval.",
        [forest.Panel("", "Ratio", tuple(parts), has_values=False)] if parts else [],
        STYLES,
    )


def entry(claim: ClaimEntry, part: PartEntry) -> Entry:
    """A mark of a chart: one ratio of a claim."""
    has_interval = part.low is not None and part.high is not None
    of_study = f"; the study reports {part.study_value:g}" if part.study_value else ""
    return Entry(
        f"{claim.id}: {claim.text}",
        part.ratio,
        (part.low or 0.0, part.high or 0.0) if has_interval else None,
        part.verdict.replace("-", " "),
        f"{WORDS[part.metric]} {part.label}",
        is_sure=has_interval,
        cell=claim.cells[0] if claim.cells else "",
        note=f"expected: {part.expect}{of_study}",
        margin=forest.band(part.margin),
    )


_COLUMNS: Sequence[doc.Column[PartEntry]] = (
    doc.Column("Ratio", lambda part: part.label),
    doc.Column(
        "Metric", lambda part: WORDS[part.metric] + ("" if part.decides else " (not deciding)")
    ),
    doc.Column("Expected", lambda part: part.expect),
    doc.number("Measured [95 %]", lambda part: wording.with_ends(part.ratio, part.low, part.high)),
    doc.number("The study", lambda part: part.study_value),
    doc.Column("Verdict", lambda part: doc.Field(part.headline, TONES[part.verdict])),
)
