"""Regret in words and tables: what the strategy that chooses loses, cell by cell and in short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from restbench.analyse import regret
from restbench.analyse.comparison import Comparison
from restbench.analyse.measures import Row
from restbench.analyse.regret import STUCK_ABOVE, TOLERANCE, Share, Slowdown
from restbench.experiment.cell import Cell, users_text
from restbench.judge.claim_parts import WORDS, ratio_text
from restbench.observe.decisions import STRATEGY as CHOOSING

HEAD = ("Service", "Complexity", "Users", "Metric", "Against", "Share [95 %]", "Regret", "Verdict")
SLOWDOWN_HEAD = ("Service", "Strategy", "Mix", "Users", "Kind", "p95 in the mix / alone [95 %]")
_PERCENT = 100


@dataclass(frozen=True)
class Choosing:
    """All that a run tells of the strategy that chooses."""

    regrets: tuple[Share, ...]
    duels: tuple[Share, ...]
    slowdowns: tuple[Slowdown, ...]

    def summary(self) -> list[str]:
        """A sentence a service and metric, then the mixes; nothing where nothing chooses."""
        groups: dict[tuple[str, str], list[Share]] = {}
        for each in self.regrets:
            groups.setdefault((each.cell.service, each.metric), []).append(each)
        told = [_cells(service, metric, group) for (service, metric), group in groups.items()]
        told += _against_each(self.duels)
        return told + _not_stuck(self.slowdowns)

    @property
    def lines(self) -> list[list[str]]:
        """A line a cell and metric, in the columns of HEAD."""
        return [line(each) for each in self.regrets]

    @property
    def duel_lines(self) -> list[list[str]]:
        """The same of each mix against every fixed strategy."""
        return [line(each) for each in self.duels]


def choosing(rows: Sequence[Row]) -> Choosing:
    """What the rows of one run tell of it."""
    return Choosing(
        tuple(regret.regrets(rows)), tuple(regret.duels(rows)), tuple(regret.slowdowns(rows))
    )


def line(share: Share) -> list[str]:
    """A comparison for people, in the columns of HEAD."""
    return [
        share.cell.service,
        complexity(share),
        str(share.cell.users),
        WORDS[share.metric],
        share.other.key if share.other else "",
        ratio_text(share.comparison),
        "" if share.regret is None else f"{_PERCENT * share.regret:.1f} %",
        verdict(share),
    ]


def complexity(share: Share) -> str:
    """The level, and of a mix the kind of request that is looked at."""
    return f"{share.cell.complexity}: {share.part}" if share.part else share.cell.complexity


def verdict(share: Share) -> str:
    """`within 3 %`, `beyond 3 %`, ..., with what makes it less than that."""
    notes = [
        "one run" if share.once else "",
        "doubtful" if share.doubtful and share.other else "",
        f"without {', '.join(share.unknown)}" if share.unknown and share.other else "",
        share.comparison.lack or "",
    ]
    told = {"within": f"within {TOLERANCE:.0%}", "beyond": f"beyond {TOLERANCE:.0%}"}
    text = told.get(share.verdict, share.verdict)
    noted = ", ".join(note for note in notes if note)
    return f"{text} ({noted})" if noted else text


def _cells(service: str, metric: str, shares: Sequence[Share]) -> str:
    counts = Counter(each.verdict for each in shares)
    measured = [each for each in shares if each.regret is not None]
    text = (
        f"{service.capitalize()}, {CHOOSING} over the best fixed strategy, {WORDS[metric]}: "
        f"within {TOLERANCE:.0%} in {counts['within']} of {len(shares)} "
        f"{'cells and kinds' if any(each.part for each in shares) else 'cells'}"
    )
    others = [f"{counts[each]} {each}" for each in ("beyond", "undecided", "not measured")]
    text += "".join(f", {other}" for other in others if not other.startswith("0 "))
    if not measured:
        return f"{text}."
    worst = max(measured, key=lambda each: each.regret or 0.0)
    once = " One run, no interval." if all(each.once for each in measured) else ""
    return f"{text}; largest regret {_named(worst)}.{once}"


def _named(share: Share) -> str:
    found = share.regret or 0.0
    other = share.other.key if share.other else ""
    return (
        f"{_PERCENT * found:.1f} % at {complexity(share)} with {users_text(share.cell.users)} "
        f"({other}: {ratio_text(share.comparison)})"
    )


def _against_each(duels: Sequence[Share]) -> list[str]:
    """Throughput of each mix: is choosing better than every strategy that does not?"""
    mixes: dict[Cell, list[Share]] = {}
    for each in duels:
        if each.metric == "throughput_per_s":
            mixes.setdefault(each.cell, []).append(each)
    return [_mix(cell, group) for cell, group in mixes.items()]


def _mix(cell: Cell, duels: Sequence[Share]) -> str:
    better = sum(each.is_better for each in duels)
    found = ", ".join(
        f"{each.other.key if each.other else ''} {ratio_text(each.comparison) or 'no number'}"
        for each in duels
    )
    once = " One run, no interval." if any(each.once for each in duels) else ""
    return (
        f"{cell.service.capitalize()}, {cell.complexity} with {users_text(cell.users)}: throughput "
        f"above {better} of {len(duels)} fixed strategies by more than {TOLERANCE:.0%} ({found})."
        f"{once}"
    )


def _not_stuck(slowdowns: Sequence[Slowdown]) -> list[str]:
    """The smallest requests' p95 in the mix over their p95 alone."""
    known = [each for each in slowdowns if each.mixed.strategy == CHOOSING]
    return [
        f"{each.mixed.service.capitalize()}, {users_text(each.mixed.users)}: p95 of {each.kind} in "
        f"{each.mixed.complexity} over its p95 alone {_judged(each.comparison)}."
        for each in known
    ]


def _judged(comparison: Comparison) -> str:
    if comparison.estimate is None:
        return f"is not known ({comparison.lack})"
    highest = comparison.ratio.high if comparison.ratio else comparison.estimate
    lowest = comparison.ratio.low if comparison.ratio else comparison.estimate
    kept = "kept" if highest <= STUCK_ABOVE else "not kept" if lowest > STUCK_ABOVE else "undecided"
    once = "" if comparison.ratio else ", one run"
    return f"{ratio_text(comparison)} (at most {STUCK_ABOVE:.0f}: {kept}{once})"


def slowdown_lines(slowdowns: Sequence[Slowdown]) -> list[list[str]]:
    """Service, strategy, mix, users, kind, ratio: for every strategy, as the fixed ones tell what
    choosing is worth."""
    return [
        [
            each.mixed.service,
            each.mixed.key,
            each.mixed.complexity,
            str(each.mixed.users),
            each.kind,
            ratio_text(each.comparison) or each.comparison.lack or "",
        ]
        for each in slowdowns
    ]
