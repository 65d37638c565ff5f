"""What was judged, as forest plots: two builds, the claims' ratios, and what choosing costs."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.experiment.cell import users_text
from restbench.experiment.columns import HEADINGS
from restbench.judge import verdicts
from restbench.judge.builds import Held, Pair
from restbench.judge.claims import WORDS
from restbench.judge.regret import TOLERANCE, Share
from restbench.observe.decisions import STRATEGY as CHOOSING
from restbench.show.charts import forest
from restbench.show.charts.forest import Entry, Panel
from restbench.show.charts.theme import Chart
from restbench.store.quoted import ClaimEntry, PartEntry

#: The number of a verdict's colour and shape.
STYLES = {
    "reproduced": 0,
    "contradicted": 1,
    "no effect": 4,
    "smaller than margin": 4,
    "not measurable": 7,
    "too imprecise": 6,
    "not measured": 6,
}
_TITLES = {"throughput_per_s": "throughput", "p95_ms": "p95"}
_OVER = {
    "throughput_per_s": f"{CHOOSING}'s throughput over that of the best fixed strategy of the cell",
    "p95_ms": f"the best fixed strategy's p95 over that of {CHOOSING}",
}


#: Of a comparison of builds, as STYLES.
_STATES = {"within": 0, "beyond": 1, "undecided": 6, "no number": 7}


def builds(pairs: Sequence[Pair]) -> Chart | None:
    """A panel a metric, a line a cell that was measured in both builds."""
    metrics = dict.fromkeys(held.limit.metric for pair in pairs for held in pair.held)
    return forest.chart(
        "builds-ratios",
        "Is B worse than A?",
        "B over A in each cell with its 95 % interval, paired by block. The band is what the "
        "threshold allows. Hollow marks have warnings.",
        [
            Panel(
                HEADINGS[metric],
                "B / A",
                tuple(
                    _held(pair, held)
                    for pair in pairs
                    for held in pair.held
                    if held.limit.metric == metric
                ),
            )
            for metric in metrics
        ],
        _STATES,
    )


def _held(pair: Pair, held: Held) -> Entry:
    return Entry(
        label=pair.name,
        value=held.comparison.estimate,
        interval=held.comparison.ends,
        series=held.state,
        is_sure=not (pair.first.warnings or pair.second.warnings),
        cell=pair.second.cell.id,
        note=held.comparison.lack or str(held.limit),
        margin=(min(1.0, held.limit.ratio), max(1.0, held.limit.ratio)),
    )


def claims(entries: Sequence[ClaimEntry]) -> Chart | None:
    """The ratio of each part of the claims that were decided; None where none was."""
    parts = [
        _part(claim, part)
        for claim in entries
        if claim.verdict in verdicts.DECIDED
        for part in claim.parts
        if part.decides and part.ratio is not None
    ]
    return forest.chart(
        "claims-ratios",
        "The claims that were decided",
        "Each ratio with its 95 % interval; the band is the margin within which a difference does "
        "not count. A line a claim, a mark a ratio that decides it. Hollow: no interval.",
        [Panel("", "Ratio", tuple(parts), has_values=False)] if parts else [],
        STYLES,
    )


def _part(claim: ClaimEntry, part: PartEntry) -> Entry:
    has_interval = part.low is not None and part.high is not None
    return Entry(
        label=f"{claim.id}: {claim.text}",
        name=f"{WORDS[part.metric]} {part.label}",
        value=part.ratio,
        interval=(part.low or 0.0, part.high or 0.0) if has_interval else None,
        series=part.verdict.replace("-", " "),
        is_sure=has_interval,
        cell=claim.cells[0] if claim.cells else "",
        note=f"expected: {part.expect}"
        + (f"; the study has {part.study_value:g}" if part.study_value else ""),
        margin=(1 / (1 + part.margin), 1 + part.margin),
    )


def regret(shares: Sequence[Share]) -> list[Chart | None]:
    """A chart of each metric that has a number: a panel a service, a line a cell."""
    by_metric = {metric: [each for each in shares if each.metric == metric] for metric in _TITLES}
    return [
        _regret(metric, found)
        for metric, found in by_metric.items()
        if any(each.regret is not None for each in found)
    ]


def _regret(metric: str, shares: Sequence[Share]) -> Chart | None:
    services = dict.fromkeys(each.cell.service for each in shares)
    return forest.chart(
        f"regret-{_TITLES[metric]}",
        f"What choosing costs: share of the best fixed strategy, {_TITLES[metric]}",
        f"{_OVER[metric]}: 1 is as good as if the best were known beforehand, below "
        f"{1 - TOLERANCE} is beyond the tolerance. The best is chosen by hindsight among these "
        "runs. Hollow marks have warnings.",
        [
            Panel(
                service.capitalize(),
                "Share of the best fixed",
                tuple(_share(each) for each in shares if each.cell.service == service),
            )
            for service in services
        ],
        STYLES,
    )


def _share(share: Share) -> Entry:
    return Entry(
        label=f"{share.complexity}, {users_text(share.cell.users)}",
        value=share.comparison.estimate,
        interval=share.comparison.ends,
        series=verdicts.said(share.verdict),
        is_sure=not share.warned,
        cell=share.cell.id,
        margin=(1 - TOLERANCE, 1 / (1 - TOLERANCE)),
        note=f"against {share.other.strategy}" if share.other else share.comparison.lack or "",
    )
