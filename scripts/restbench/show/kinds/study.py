"""The study's own view: what choosing a technique per request costs, as the claims on it say, in
words, as tables and as charts; the study's figures, and where the time of a request goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from restbench.grouping import grouped
from restbench.judge.claims import WORDS
from restbench.observe.decisions import STRATEGY as CHOOSING
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import forest, study, theme
from restbench.show.findings import Findings, View
from restbench.show.parts import claims
from restbench.store.quoted import ClaimEntry, PartEntry

#: The id of the claim on choosing per request; further claims on it have ids that begin with it.
CHOICE = "F1"
_HOW_TO_READ = (
    "Regret is what is lost by not knowing the best fixed strategy of a cell beforehand: 1 minus "
    "the ratio for throughput, 1 minus its inverse for p95 and CPU time. Below 0 choosing is "
    "better. The best strategy is the one that these runs show as the best. Among several alike "
    "it is the one that chance favoured, so regret is overestimated rather than underestimated. "
    "The claim states why a cell has no number here."
)


def sentence(entries: Sequence[ClaimEntry]) -> str:
    """The result of F1 with the largest regret of its cells; empty where none has a number."""
    claim = _first(entries)
    cells = [each for each in claim.parts if each.metric == "throughput_per_s"] if claim else []
    known = [(lost, each) for each in cells if (lost := regret(each)) is not None]
    if claim is None or not known:
        return ""
    lost, worst = max(known, key=lambda each: each[0])
    return (
        f"The claim that choosing per request is as fast as the best fixed technique everywhere "
        f"({CHOICE}) is {claim.headline}; the largest regret of {len(known)} cells is "
        f"{100 * lost:.1f} % ({_sides(worst)[0]})."
    )


def sure(entries: Sequence[ClaimEntry]) -> str:
    """What F1's verdict rests on."""
    claim = _first(entries)
    return claim.why if claim else ""


def _first(entries: Sequence[ClaimEntry]) -> ClaimEntry | None:
    return next((each for each in entries if each.id == CHOICE), None)


def regret(part: PartEntry) -> float | None:
    """What is lost by not knowing the best strategy beforehand; below 0 where choosing is better.
    None without a number, and where the ratio is not to a best strategy."""
    if not part.ratio or "best of" not in part.label:
        return None
    return 1 - (part.ratio if part.metric.endswith("_per_s") else 1 / part.ratio)


def _measured(claim: ClaimEntry) -> list[PartEntry]:
    return [part for part in claim.parts if part.ratio is not None]


def _sides(part: PartEntry) -> tuple[str, str]:
    """Both sides of a ratio, such as `java adaptive low 1u` and `java serial low 1u`; the second is
    empty for a pooled ratio."""
    first, _, second = part.label.partition(" (")[0].partition(" / ")
    return first, second


def _choosing(entries: Sequence[ClaimEntry]) -> list[ClaimEntry]:
    """The claims on choosing for which the run has a number."""
    return [each for each in entries if each.id.startswith(CHOICE) and _measured(each)]


def page(found: Findings, _its: Findings) -> doc.Section | None:
    """The verdicts, the charts, and, folded, each ratio; None where nothing chooses."""
    choice = _choosing(found.run.claims)
    if not choice:
        return None
    return doc.section(
        "regret",
        "What choosing costs",
        [f"{each.id}, {each.headline}: {each.text}." for each in choice],
        *found.figures(CHOICE),
        _HOW_TO_READ,
        doc.section(
            "regret-cells",
            "Each cell",
            *(doc.table(f"{each.id}: {each.text}", _COLUMNS, _measured(each)) for each in choice),
            folded=True,
        ),
    )


def charts(found: Findings) -> list[theme.Chart | None]:
    """What choosing costs, then the figures by the study's numbers."""
    drawn = (study.chart(each, found.definition, found.rows) for each in found.definition.figures)
    return [*map(chart_of, _choosing(found.run.claims)), *drawn]


def chart_of(claim: ClaimEntry) -> theme.Chart | None:
    """The ratios of the choosing strategy at each load of a claim, in the metric of the claim's
    first ratio: a panel per service."""
    metric = claim.parts[0].metric
    parts = [each for each in _measured(claim) if each.metric == metric]
    loads = [each for each in parts if f" {CHOOSING}" in _sides(each)[0]]
    services = grouped(loads, lambda each: each.label.split()[0].capitalize())
    return forest.chart(
        f"{claim.id}-ratios",
        f"What choosing costs, {claim.id}: ratio of {WORDS[metric]}",
        f"{claim.text}. Each symbol is one load: the ratio of {CHOOSING} to what the claim "
        "compares it with. The band is the margin within which a difference does not count.",
        forest.panels(services, "Ratio", partial(_entry, claim)),
        claims.STYLES,
    )


def _entry(claim: ClaimEntry, part: PartEntry) -> forest.Entry:
    """A mark that is named by its load; the tooltip shows both sides of the ratio."""
    sides = _sides(part)
    load = sides[0].split(" ", 2)[-1]
    return replace(claims.entry(claim, part), label=load, name=" / ".join(sides), cell="")


def _percent(part: PartEntry) -> str:
    lost = regret(part)
    return "" if lost is None else f"{100 * lost:.1f} %"


_COLUMNS: Sequence[doc.Column[PartEntry]] = (
    doc.Column("Ratio", lambda part: " / ".join(filter(None, _sides(part)))),
    doc.Column("Of", lambda part: WORDS[part.metric]),
    doc.number("Here [95 %]", lambda part: wording.with_ends(part.ratio, part.low, part.high)),
    doc.number("Regret", _percent),
    doc.Column("Verdict", lambda part: doc.Field(part.headline, claims.TONES[part.verdict])),
)


def figures(found: Findings) -> doc.Section | None:
    """The figures by the study's numbers; None where none is in the run."""
    shown = found.figures("figure-")
    drawn = {each.chart.name for each in shown}
    absent = [
        str(each.number)
        for each in found.definition.figures
        if f"figure-{each.number}" not in drawn
    ]
    lacking = f" Not in this run: {', '.join(absent)}." if absent else ""
    dashboards = " Figures 28 to 30 are JMeter's own dashboards, linked at their cells." * (
        found.folder.dashboards.exists()
    )
    intro = (
        "Figures are numbered as in the study. Point at a symbol to see its cell, click it for "
        "details; click a name to hide its symbols. A hollow symbol has a warning."
        f"{dashboards}{lacking}"
    )
    return doc.section("figures", "The study's figures", intro, *shown) if shown else None


def stages(found: Findings) -> doc.Section | None:
    """The charts of the stages of a request, by technique."""
    return doc.section("stages", "Where the time goes", *found.figures("stages"))


VIEW = View(
    lambda found: found,
    page,
    lambda found: sentence(found.run.claims),
    lambda found: sure(found.run.claims),
    charts,
    more=(figures, stages),
)
