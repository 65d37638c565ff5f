"""What choosing costs: the strategy that chooses against the best fixed one of each cell, and what
a mix of small and huge requests does to each. Pure: rows in, ratios with verdicts and words out.

A cell's best fixed strategy is the one that these very runs show as the best. Among several that
are alike it is the one that luck favoured, so regret is rather shown too large than too small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from restbench.analyse.comparison import Comparison, paired, series, usable
from restbench.analyse.measures import Row, alike
from restbench.experiment.cell import Cell, users_text
from restbench.experiment.claim_file import Expectation
from restbench.grouping import grouped
from restbench.judge import verdicts
from restbench.judge.claims import WORDS
from restbench.judge.questions import best_of
from restbench.judge.verdicts import PRECEDENCE, Verdict, ratio_text, said
from restbench.observe.decisions import STRATEGY as CHOOSING

#: So much less than the best fixed strategy is as good as it,
TOLERANCE = 0.03
#: as the margin of claims/adaptive.toml.
MARGIN = 1 / (1 - TOLERANCE) - 1
#: A kind's p95 in the mix over its p95 alone, at most twice: small requests do not wait for huge
#: ones (F1-stuck in claims/adaptive.toml).
STUCK_MARGIN = 1.0

Metric: TypeAlias = Literal["throughput_per_s", "p95_ms"]


@dataclass(frozen=True)
class Share:
    """How one cell does next to another, and whether that is as expected. A share of regret is
    above 1 where choosing does better, whatever the metric; a slowdown is p95 over p95."""

    metric: Metric
    part: str
    """The kind of request of a mix; empty for all requests of the cell."""
    cell: Cell
    other: Cell | None
    """None where no other has a number."""
    comparison: Comparison
    expect: Expectation
    warned: bool = False
    """Whether one of the two cells has a warning."""
    unknown: tuple[str, ...] = ()
    """The fixed strategies that should have a number and have none: one might be the best."""
    verdict: Verdict = "not-measured"

    @property
    def regret(self) -> float | None:
        """What is lost by not knowing the best beforehand; below 0 where choosing is better."""
        estimate = self.comparison.estimate
        return None if estimate is None else 1 - estimate

    @property
    def complexity(self) -> str:
        """The level, and of a mix the kind of request that is looked at."""
        return f"{self.cell.complexity}: {self.part}" if self.part else self.cell.complexity


@dataclass(frozen=True)
class Choosing:
    """All that a run tells of the strategy that chooses."""

    regrets: tuple[Share, ...]
    """Of each cell that chooses its share of the best fixed one: at least 0.97?"""
    duels: tuple[Share, ...]
    """The same of each mix against every fixed strategy: above it?"""
    slowdowns: tuple[Share, ...]
    """Of every mix and strategy the smallest kind's p95 over its p95 alone: at most 2?"""

    def summary(self) -> list[str]:
        """A sentence a service and metric, then the mixes; nothing where nothing chooses."""
        cells = grouped(self.regrets, lambda each: (each.cell.service, each.metric))
        by_throughput = (each for each in self.duels if each.metric == "throughput_per_s")
        mixes = grouped(by_throughput, lambda each: each.cell)
        return [
            *(_cells(service, metric, group) for (service, metric), group in cells.items()),
            *(_mix(cell, group) for cell, group in mixes.items()),
            *(_slowdown(each) for each in self.slowdowns if each.cell.strategy == CHOOSING),
        ]


def choosing(rows: Sequence[Row]) -> Choosing:
    """What the rows of one run tell of it, each table judged as one."""
    groups = _groups(rows)
    regrets = [_share_of_best(*group, *asked) for group in groups for asked in _asked(group[0])]
    duels = [
        _share(one, other, metric, part, "greater")
        for one, fixed in groups
        if one.mix
        for other in fixed
        for metric, part in _asked(one)
    ]
    return Choosing(*(_judged(each) for each in (regrets, duels, _slowdowns(rows))))


def _judged(shares: Sequence[Share]) -> tuple[Share, ...]:
    found = verdicts.together([(each.comparison, each.expect) for each in shares])
    return tuple(replace(each, verdict=of) for each, of in zip(shares, found, strict=True))


def _groups(rows: Sequence[Row]) -> list[tuple[Row, list[Row]]]:
    """Each row that chooses, with those that differ in nothing but their strategy."""
    found = []
    for cell, group in alike(rows, strategy=CHOOSING).items():
        fixed = [row for row in group if row.cell != cell]
        found += [(row, fixed) for row in group if row.cell == cell and len(group) > 1]
    return found


def _asked(row: Row) -> list[tuple[Metric, str]]:
    """Of a mix no common p95: with 5 % huge requests it is the slowest small or the fastest huge
    one by chance."""
    parts = [kind.name for kind in row.mix] or [""]
    return [("throughput_per_s", ""), *(("p95_ms", part) for part in parts)]


def _share_of_best(choosing: Row, fixed: Sequence[Row], metric: Metric, part: str) -> Share:
    known = usable(fixed, metric, part)
    unknown = tuple(row.cell.strategy for row in fixed if row.cell not in known)
    if not known:
        lack = Comparison(MARGIN, lack="no fixed strategy has a number")
        return Share(metric, part, choosing.cell, None, lack, "not less", unknown=unknown)
    best = best_of(known, metric)
    (other,) = (row for row in fixed if row.cell == best)
    return replace(_share(choosing, other, metric, part, "not less"), unknown=unknown)


def _share(choosing: Row, other: Row, metric: Metric, part: str, expect: Expectation) -> Share:
    pair = (series(choosing, metric, part), series(other, metric, part))
    first, second = pair if metric == "throughput_per_s" else reversed(pair)
    found = paired(first, second, MARGIN)
    warned = bool(choosing.warnings or other.warnings)
    return Share(metric, part, choosing.cell, other.cell, found, expect, warned)


def _slowdowns(rows: Sequence[Row]) -> list[Share]:
    known = {row.cell: row for row in rows}
    found = []
    for row in rows:
        kind = min(row.mix, key=lambda each: each.shape.products).name if row.mix else ""
        alone = known.get(row.cell.model_copy(update={"complexity": kind}))
        if alone:
            pair = series(row, "p95_ms", kind), series(alone, "p95_ms")
            ratio = paired(*pair, STUCK_MARGIN)
            found.append(Share("p95_ms", kind, row.cell, alone.cell, ratio, "not greater"))
    return found


def _cells(service: str, metric: Metric, shares: Sequence[Share]) -> str:
    counts = Counter(each.verdict for each in shares)
    shares_text = ", ".join(
        f"{counts[each]} {said(each)}" for each in reversed(PRECEDENCE) if counts[each]
    )
    text = (
        f"{service.capitalize()}, {CHOOSING} at least {1 - TOLERANCE} of the best fixed strategy, "
        f"{WORDS[metric]}, in {len(shares)} cells or kinds: {shares_text}."
    )
    measured = [each for each in shares if each.regret is not None and each.other]
    if not measured:
        return text
    worst = max(measured, key=lambda each: each.regret or 0.0)
    key = worst.other.key if worst.other else ""
    return (
        f"{text} Largest regret {100 * (worst.regret or 0.0):.1f} % at {worst.complexity} with "
        f"{users_text(worst.cell.users)} ({key}: {ratio_text(worst.comparison)})."
    )


def _mix(cell: Cell, duels: Sequence[Share]) -> str:
    better = sum(each.verdict == "reproduced" for each in duels)
    found = ", ".join(
        f"{each.other.key if each.other else ''} {ratio_text(each.comparison) or 'no number'}"
        for each in duels
    )
    return (
        f"{cell.service.capitalize()}, {cell.complexity} with {users_text(cell.users)}: throughput "
        f"above {better} of {len(duels)} fixed strategies by more than {100 * TOLERANCE:.0f} % "
        f"({found})."
    )


def _slowdown(each: Share) -> str:
    ratio = ratio_text(each.comparison) or f"is not known ({each.comparison.lack})"
    return (
        f"{each.cell.service.capitalize()}, {users_text(each.cell.users)}: p95 of {each.part} in "
        f"{each.cell.complexity} over its p95 alone {ratio}, at most {1 + STUCK_MARGIN:.0f}: "
        f"{said(each.verdict, each.comparison)}."
    )
