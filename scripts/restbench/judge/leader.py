"""The report's first part: which technique is best for which complexity and load on this machine,
in two sentences made from data, and how sure. Of two builds only the second is looked at. Pure
functions on rows.

A group is one complexity and number of users, unbound, behind no web server, with the kernel that
most of the run's cells have; a strategy that the runtime does not have is in none. The best of a
group must be greater than EVERY other technique of it (intersection-union, so the group's p value
is the largest of theirs); Holm counts the groups of one scope. Over both services the best
technique of the one stands against the best of the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from restbench.analyse.comparison import MARGIN, Comparison, paired, series
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.experiment.statistics import holm_levels
from restbench.judge import verdicts
from restbench.judge.sides import best_of, is_usable
from restbench.judge.verdicts import LEVEL, PRECEDENCE, Verdict, ratio_text

Scope: TypeAlias = Literal["java", "python", "both"]
Metric: TypeAlias = Literal["throughput_per_s", "cpu_ms_per_request"]

NAMES: dict[Scope, str] = {"java": "In Java", "python": "In Python", "both": "Over both services"}
_TIMES = "\N{MULTIPLICATION SIGN}"
#: How many cells a sentence names.
_NAMED = 3


@dataclass(frozen=True)
class Leader:
    """A row of the answer's table: who comes first in a group."""

    scope: Scope
    complexity: str
    users: int
    best: Cell
    others: tuple[tuple[Cell, Comparison], ...]
    """The other techniques, the nearest first, each with how many times better the best is: above 1
    for every metric."""
    verdict: Verdict = "not-measured"
    """Of "the best is better than every other"; `not-measured` where there is no other."""
    tied: tuple[Cell, ...] = ()
    """The techniques that the best is not shown to be better than."""
    warned: tuple[str, ...] = ()
    """The cells of the group that have warnings, each with them."""
    missing: tuple[str, ...] = ()
    """The cells of the group without a number: one of them might be the best."""
    absent: tuple[str, ...] = ()
    """The techniques that other groups of the scope have and this one was not planned with."""
    cells: tuple[str, ...] = ()
    """The ids of all cells of the group."""

    @property
    def p_value(self) -> float:
        """Of "the best is not better than all others"; 1 where an interval lacks."""
        return max((verdicts.p_holds(each, "greater") for _, each in self.others), default=1.0)

    @property
    def comparison(self) -> Comparison | None:
        """With the nearest."""
        return self.others[0][1] if self.others else None

    @property
    def text(self) -> str:
        """The verdict for people."""
        if self.comparison is None:
            return "only one"
        return verdicts.said(self.verdict, self.comparison).replace("reproduced", "best")


@dataclass(frozen=True)
class Answer:
    """The two sentences, and the tables they are made from."""

    sentences: tuple[str, str]
    """What is best where; how sure that is."""
    by_throughput: tuple[Leader, ...]
    by_cpu_time: tuple[Leader, ...]
    """The same by CPU time per request, which shared cores and a slow load generator do not
    compress (method, rule 4)."""


def answer(rows: Sequence[Row]) -> Answer:
    """What the rows of one run say; with several blocks only differences that are sure count."""
    fastest = [each for scope in NAMES for each in leaders(rows, scope, "throughput_per_s")]
    cheapest = [each for scope in NAMES for each in leaders(rows, scope, "cpu_ms_per_request")]
    told = [each for each in fastest if each.others]
    lacking = [
        row.cell.id
        for row in rows
        if row.value("throughput_per_s") is None and "not-offered" not in row.flags
    ]
    sentences = (_what(told), _how_sure(told, cheapest, lacking))
    return Answer(sentences, tuple(fastest), tuple(cheapest))


def leaders(rows: Sequence[Row], scope: Scope, metric: Metric) -> list[Leader]:
    """The leader of every group of the scope that has a number, in the order of the rows."""
    groups = _groups(rows, scope)
    every = dict.fromkeys(row.cell.key for group in groups for row in group)
    found = []
    for group in groups:
        leader = _leader(_heads(group, metric) if scope == "both" else group, scope, metric)
        if leader:
            keys = {row.cell.key for row in group}
            found.append(replace(leader, absent=tuple(key for key in every if key not in keys)))
    levels = holm_levels([each.p_value for each in found], LEVEL)
    return [_judged(each, level) for each, level in zip(found, levels, strict=True)]


def _groups(rows: Sequence[Row], scope: Scope) -> list[list[Row]]:
    """The rows by complexity and users; over both services only where both are there."""
    groups: dict[tuple[str, int], list[Row]] = {}
    loops = sum(row.cell.kernel == "loops" for row in rows)
    # The study's kernel where as many cells have the one as the other.
    wanted = ("unbound", "none", "loops" if 2 * loops >= len(rows) else "native")
    for row in rows:
        cell = row.cell
        plain = (cell.placement, cell.front, cell.kernel) == wanted
        if (
            plain
            and scope in ("both", cell.service)
            and cell.build != "A"
            and "not-offered" not in row.flags
        ):
            groups.setdefault((cell.complexity, cell.users), []).append(row)
    services = 2 if scope == "both" else 1
    return [each for each in groups.values() if len({row.cell.service for row in each}) == services]


def _heads(group: Sequence[Row], metric: Metric) -> list[Row]:
    """The best of each service; all of a service of which none has a number."""
    heads: list[Row] = []
    for service in dict.fromkeys(row.cell.service for row in group):
        rows = [row for row in group if row.cell.service == service]
        leader = _leader(rows, "both", metric)
        heads += [row for row in rows if leader is None or row.cell == leader.best]
    return heads


def _leader(group: Sequence[Row], scope: Scope, metric: Metric) -> Leader | None:
    values = {row.cell: series(row, metric) for row in group}
    usable = {cell: each for cell, each in values.items() if is_usable(each)}
    if not usable:
        return None
    best = best_of(usable, metric)
    others = []
    for cell in usable:
        better, worse = (best, cell) if metric == "throughput_per_s" else (cell, best)
        if cell != best:
            others.append((cell, paired(usable[better], usable[worse])))
    return Leader(
        scope,
        best.complexity,
        best.users,
        best,
        tuple(sorted(others, key=lambda each: each[1].estimate or 0.0)),
        warned=tuple(
            f"{row.cell.id}: {', '.join(map(str, row.warnings))}" for row in group if row.warnings
        ),
        missing=tuple(cell.id for cell in values if cell not in usable),
        cells=tuple(row.cell.id for row in group),
    )


def _judged(leader: Leader, level: float) -> Leader:
    found = {
        cell: verdicts.verdict(each, "greater", holds_at=level) for cell, each in leader.others
    }
    verdict: Verdict = next((each for each in PRECEDENCE if each in found.values()), "not-measured")
    tied = tuple(cell for cell, each in found.items() if each != "reproduced")
    return replace(leader, verdict=verdict, tied=tied)


def _what(told: Sequence[Leader]) -> str:
    """Which technique is best where; ties last."""
    if not told:
        return "No two techniques were measured beside each other, so none is best."
    scopes = [_scope(scope, [each for each in told if each.scope == scope]) for scope in NAMES]
    return " ".join(each for each in scopes if each)


def _scope(scope: Scope, told: Sequence[Leader]) -> str:
    outcomes: dict[str, list[Leader]] = {}
    for each in sorted(told, key=lambda leader: leader.verdict != "reproduced"):
        outcomes.setdefault(_outcome(each), []).append(each)
    clauses = [f"{outcome} {_places(group)}{_lead(group)}" for outcome, group in outcomes.items()]
    return f"{NAMES[scope]}, {'; '.join(clauses)}." if clauses else ""


def _outcome(leader: Leader) -> str:
    name = leader.best.service.capitalize() if leader.scope == "both" else leader.best.key
    if leader.verdict == "reproduced":
        return f"{name} is best"
    if _is_one_block(leader):
        return f"{name} came first"
    tied = _and(sorted({cell.key for cell in (leader.best, *leader.tied)}))
    return f"{tied} are within {MARGIN:.0%}" if _is_tie(leader) else f"none is shown best ({tied})"


def _is_one_block(leader: Leader) -> bool:
    return all(each.blocks == 1 for _, each in leader.others)


def _is_tie(leader: Leader) -> bool:
    """Whether whatever is not shown to be worse is shown to be as good, within the margin."""
    tied = [each for cell, each in leader.others if cell in leader.tied]
    return all(verdicts.verdict(each, "same") == "reproduced" for each in tied)


def _places(group: Sequence[Leader]) -> str:
    """`at low with 10 and 30 users and at medium with 10 users`."""
    users: dict[str, list[str]] = {}
    for each in group:
        users.setdefault(each.complexity, []).append(str(each.users))
    levels: dict[str, list[str]] = {}
    for complexity, numbers in users.items():
        levels.setdefault(_and(numbers), []).append(complexity)
    return _and(
        f"at {_and(names)} with {number} user{'s' * (number != '1')}"
        for number, names in levels.items()
    )


def _and(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _lead(group: Sequence[Leader]) -> str:
    """How far ahead of the next: one ratio with its interval, or the range of several."""
    if group[0].verdict != "reproduced" and not _is_one_block(group[0]):
        return ""
    nearest = [each.others[0] for each in group]
    if len(nearest) == 1:
        cell, found = nearest[0]
        estimate, _, interval = ratio_text(found).partition(" ")
        return f" ({' '.join(filter(None, (f'{estimate}{_TIMES}', cell.key, interval)))})"
    estimates = [found.estimate for _, found in nearest if found.estimate]
    return f" ({readable(min(estimates))} to {readable(max(estimates))}{_TIMES} the next)"


def _how_sure(
    told: Sequence[Leader], cheapest: Sequence[Leader], without_number: Sequence[str]
) -> str:
    """The intervals, or that there are none; what is undecided, has warnings or is missing."""
    groups = [each for each in told if each.scope != "both"] or list(told)
    if not groups:
        return "There is nothing to be sure of."
    warned = dict.fromkeys(cell for each in groups for cell in each.warned)
    absent = dict.fromkeys(name for each in groups for name in each.absent)
    named = [*without_number[:_NAMED]]
    named += [f"{len(without_number) - _NAMED} more"] if len(without_number) > _NAMED else []
    notes = [
        _statistics(groups),
        _by_cpu_time(groups, cheapest),
        f"cells with warnings: {len(warned)}",
        f"cells without a number: {len(without_number)} ({_and(named)})" if named else "",
        f"techniques lacking in some groups: {_and(absent)}" if absent else "",
    ]
    return f"How sure: {'; '.join(note for note in notes if note)}."


def _statistics(told: Sequence[Leader]) -> str:
    if all(map(_is_one_block, told)):
        return "one block, no interval: this is an order, no verdict"
    numbers = [each.blocks for leader in told for _, each in leader.others]
    fewest, most = min(numbers), max(numbers)
    best = sum(each.verdict == "reproduced" for each in told)
    return (
        f"95 % t intervals over {most if fewest == most else f'{fewest} to {most}'} blocks, Holm "
        f"over the groups of a service, a difference counts above {MARGIN:.0%}; {best} of "
        f"{len(told)} groups have a best that is shown"
    )


def _by_cpu_time(told: Sequence[Leader], cheapest: Sequence[Leader]) -> str:
    """Where the fastest is not the cheapest: the load generator may hide the difference."""
    fastest = {(each.scope, each.complexity, each.users): each for each in told}
    both = [
        (fast, each)
        for each in cheapest
        if (fast := fastest.get((each.scope, each.complexity, each.users)))
    ]
    if not both:
        return "CPU time per request is not known"
    others = sum(
        (each.verdict == "reproduced" or _is_one_block(each)) and fast.best != each.best
        for fast, each in both
    )
    return f"by CPU time per request another technique leads in {others} of {len(both)} groups"
