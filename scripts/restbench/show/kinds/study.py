"""The study's own view: what choosing a technique per request costs, in words, as tables and as
charts; the study's figures, and where the time of a request goes."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.measures import Row
from restbench.experiment.cell import users_text
from restbench.grouping import grouped
from restbench.judge import regret, verdicts
from restbench.judge.claims import WORDS
from restbench.judge.regret import Choosing, Share
from restbench.judge.verdicts import ratio_text
from restbench.observe.decisions import STRATEGY as CHOOSING
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import forest, study, theme
from restbench.show.findings import Findings, View
from restbench.show.parts.claims import STYLES

_DECIMALS = 4
#: Of a chart: the name of its metric, and what its shares are.
_SHARES_OF = {
    "throughput_per_s": (
        "throughput",
        f"{CHOOSING}'s throughput over that of the best fixed strategy of the cell",
    ),
    "p95_ms": ("p95", f"the best fixed strategy's p95 over that of {CHOOSING}"),
}
_HOW_TO_READ = (
    "A share is above 1 where choosing is better, whatever the metric: of throughput it is the "
    "choosing strategy's over the other's, of latency the other's over the choosing one's. Regret "
    "is 1 less the share. The best fixed strategy is the one that these runs show as the best, so "
    "among several alike the one that luck favoured: regret is rather shown too large. Intervals "
    "are of the ratio paired by block; with one block there are none."
)


def sentence(rows: Sequence[Row]) -> str:
    """What choosing per request costs next to the best fixed technique, by service."""
    services = grouped(_of_throughput(rows), lambda each: each.cell.service)
    parts = "; ".join(f"in {name.capitalize()} {_kept(of)}" for name, of in services.items())
    if not parts:
        return ""
    least = f"{100 * (1 - regret.TOLERANCE):.0f} %"
    return f"Choosing per request is shown to reach {least} of the best fixed technique {parts}."


def sure(rows: Sequence[Row]) -> str:
    """How sure the shares are."""
    shares = [each.comparison for each in _of_throughput(rows)]
    return verdicts.sure("throughput to the best fixed technique", shares)


def _of_throughput(rows: Sequence[Row]) -> list[Share]:
    return [each for each in regret.choosing(rows).regrets if each.metric == "throughput_per_s"]


def _kept(shares: Sequence[Share]) -> str:
    kept = sum(each.verdict == "reproduced" for each in shares)
    known = [each for each in shares if each.regret is not None]
    text = f"in {kept} of {len(shares)} cells"
    if not known:
        return text
    short = [each for each in known if each.verdict == "contradicted"]
    worst = max(short or known, key=lambda each: each.regret or 0.0)
    text = f"{text} and to fall short in {len(short) or 'none'}"
    if (worst.regret or 0.0) <= 0:
        return text
    size = f"{100 * (worst.regret or 0.0):.1f} %"
    where = f"{worst.cell.complexity}, {users_text(worst.cell.users)}"
    return f"{text} ({'most' if short else 'largest estimate'}: {size}, {where})"


def page(found: Findings, _its: Findings) -> doc.Section | None:
    """The summary, the charts, and, folded, each comparison; None where nothing chooses."""
    choice = regret.choosing(found.rows)
    if not choice.regrets:
        return None
    waits = "Do small requests wait for huge ones? Every strategy"
    return doc.section(
        "regret",
        "What choosing costs",
        doc.Bullets(tuple(choice.summary())),
        *found.figures("regret"),
        doc.Text(_HOW_TO_READ),
        doc.section(
            "regret-cells",
            "Each comparison",
            doc.table("Each cell against its best fixed strategy", _SHARES, choice.regrets),
            doc.table("Each mix against every fixed strategy", _SHARES, choice.duels),
            doc.table(waits, _SLOWDOWNS, choice.slowdowns),
            folded=True,
        ),
    )


def charts(found: Findings) -> list[theme.Chart | None]:
    """What choosing costs, then the figures by the study's numbers."""
    shares = regret.choosing(found.rows).regrets
    drawn = (study.chart(each, found.definition, found.rows) for each in found.definition.figures)
    return [*charts_of(shares), *drawn]


def charts_of(shares: Sequence[Share]) -> list[theme.Chart | None]:
    """A chart of each metric that has a number: a panel a service, a line a cell."""
    found = [[each for each in shares if each.metric == metric] for metric in _SHARES_OF]
    return [_chart(of) for of in found if any(each.regret is not None for each in of)]


def _chart(shares: Sequence[Share]) -> theme.Chart | None:
    """Of one metric."""
    name, what = _SHARES_OF[shares[0].metric]
    services = grouped(shares, lambda each: each.cell.service)
    return forest.chart(
        f"regret-{name}",
        f"What choosing costs: share of the best fixed strategy, {name}",
        f"{what}: 1 is as good as if the best were known beforehand, below "
        f"{1 - regret.TOLERANCE} is beyond the tolerance. The best is chosen by hindsight among "
        "these runs. Hollow marks have warnings.",
        [
            forest.Panel(service.capitalize(), "Share of the best fixed", tuple(map(_entry, of)))
            for service, of in services.items()
        ],
        STYLES,
    )


def _entry(share: Share) -> forest.Entry:
    return forest.compared(
        share.comparison,
        share.cell,
        f"{share.complexity}, {users_text(share.cell.users)}",
        verdicts.said(share.verdict),
        is_sure=not share.warned,
        margin=(1 - regret.TOLERANCE, 1 / (1 - regret.TOLERANCE)),
        note=f"against {share.other.strategy}" if share.other else share.comparison.lack or "",
    )


def verdict(share: Share) -> str:
    """In words, with what is to be known of it."""
    notes = [
        verdicts.said(share.verdict, share.comparison),
        "with warnings" if share.warned else "",
        f"without {', '.join(share.unknown)}" if share.unknown and share.other else "",
        share.comparison.lack or "",
    ]
    return ", ".join(filter(None, notes))


_SHARES: Sequence[doc.Column[Share]] = (
    doc.Column("Service", lambda each: each.cell.service),
    doc.Column("Complexity", lambda each: each.complexity),
    doc.number("Users", lambda each: each.cell.users),
    doc.Column("Metric", lambda each: WORDS[each.metric]),
    doc.Column("Against", lambda each: each.other.key if each.other else ""),
    doc.Column("Share [95 %]", lambda each: ratio_text(each.comparison)),
    doc.Column("Regret", lambda each: "" if each.regret is None else f"{100 * each.regret:.1f} %"),
    doc.Column("Verdict", verdict),
)
#: Of every strategy: the fixed ones tell what choosing is worth.
_SLOWDOWNS: Sequence[doc.Column[Share]] = (
    doc.Column("Service", lambda each: each.cell.service),
    doc.Column("Strategy", lambda each: each.cell.key),
    doc.Column("Mix", lambda each: each.cell.complexity),
    doc.number("Users", lambda each: each.cell.users),
    doc.Column("Kind", lambda each: each.part),
    doc.Column(
        "p95 in the mix / alone [95 %]",
        lambda each: ratio_text(each.comparison) or each.comparison.lack,
    ),
)


def records(found: Choosing) -> list[dict[str, object]]:
    """A line a comparison: with the best fixed strategy (best_fixed is yes), and of each mix with
    every one. A share is above 1 where choosing is better, whatever the metric."""
    return [
        *(_record(each, "yes") for each in found.regrets),
        *(_record(each, "") for each in found.duels),
    ]


def _record(share: Share, best: str) -> dict[str, object]:
    numbers = wording.fields("share", share.comparison) | {"regret": share.regret}
    return {
        "service": share.cell.service,
        "complexity": share.cell.complexity,
        "kind": share.part,
        "users": share.cell.users,
        "metric": share.metric,
        "against": share.other.strategy if share.other else "",
        "best_fixed": best,
        **{name: None if of is None else round(of, _DECIMALS) for name, of in numbers.items()},
        "verdict": share.verdict,
        "blocks": share.comparison.blocks,
        "warnings": "yes" if share.warned else "",
    }


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
    intro = doc.Text(
        "The numbers are the study's. Point at a mark for its cell, press it for its details; "
        f"press a name to hide it. Hollow marks have warnings.{dashboards}{lacking}"
    )
    return doc.section("figures", "The study's figures", intro, *shown) if shown else None


def stages(found: Findings) -> doc.Section | None:
    """The stages by technique."""
    intro = doc.Text(
        "The service reports with each answer how long it waited, parsed, computed and "
        "serialized; the rest of the response time is the network, the web server and JMeter."
    )
    shown = found.figures("stages")
    return doc.section("stages", "Where the time goes", intro, *shown) if shown else None


VIEW = View(
    lambda found: found,
    page,
    lambda found: sentence(found.rows),
    lambda found: sure(found.rows),
    charts,
    records=lambda run, found: {run.regret_csv: records(regret.choosing(found.rows))},
    more=(figures, stages),
)
