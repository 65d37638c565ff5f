"""The answer in one sentence: which technique is best on this machine, for readers who do not know
the project. Terminal and page show the same text. Pure functions on rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from restbench.analyse.comparison import MARGIN
from restbench.analyse.measures import Row
from restbench.experiment.columns import readable
from restbench.grouping import grouped
from restbench.judge import trust
from restbench.judge.leader import SCOPES, Leader, Scope, leaders
from restbench.judge.questions import OUT_OF_RACE
from restbench.judge.verdicts import ratio_text


@dataclass(frozen=True)
class Answer:
    """Which technique is best, in words, and the tables that the words are made from."""

    sentence: str
    sure: str
    """How certain the answer is: its intervals and blocks, and whether CPU time agrees."""
    by_throughput: tuple[Leader, ...]
    by_cpu_time: tuple[Leader, ...]
    """The leaders by CPU time per request, whose differences are not compressed by shared cores or
    a slow load generator (method, rule 4)."""

    @property
    def compares(self) -> bool:
        """Whether two techniques were measured under one load, and so are in the tables."""
        return any(each.others for each in self.by_throughput)


def answer(rows: Sequence[Row]) -> Answer:
    """The answer of one run's rows; with several blocks only significant differences count."""
    fastest = [each for scope in SCOPES for each in leaders(rows, scope, "throughput_per_s")]
    cheapest = [each for scope in SCOPES for each in leaders(rows, scope, "cpu_ms_per_request")]
    compared = [each for each in fastest if each.others]
    of = {scope: [each for each in compared if each.scope == scope] for scope in SCOPES}
    between = of.pop("both")
    return Answer(
        _sentence(of, between, rows),
        _sure([*of["java"], *of["python"]], cheapest),
        tuple(fastest),
        tuple(cheapest),
    )


def _sentence(
    scopes: Mapping[Scope, Sequence[Leader]], between: Sequence[Leader], rows: Sequence[Row]
) -> str:
    """One sentence over all groups: how often each technique wins, and how the services compare."""
    parts: list[str] = []
    is_counted = False
    for scope, groups in scopes.items():
        if groups:
            # The first count says what is counted; a single group is not counted.
            of_what = "" if is_counted else _loads(groups, rows)
            parts.append(f"in {scope.capitalize()} {_winners(groups, of_what)}")
            is_counted = is_counted or len(groups) > 1
    if not parts:
        return "No two techniques were measured under the same load, so none is best."
    if between:
        parts.append(_services(between))
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _loads(groups: Sequence[Leader], rows: Sequence[Row]) -> str:
    """` combinations of matrix size (30 to 600 rows) and users (10 to 60)`; a complexity that is no
    matrix size is called by its name."""
    matrix_rows = {row.cell.complexity: row.shape.rows for row in rows if row.shape}
    mixes = {row.cell.complexity for row in rows if row.mix}
    named = dict.fromkeys(each.best.complexity for each in groups)
    sizes = sorted({matrix_rows[each] for each in named if each in matrix_rows})
    others = [each for each in named if each not in matrix_rows]
    users = sorted({each.best.users for each in groups})
    what = "matrix size" if mixes.issuperset(others) else "size"
    shown = ", ".join([*([f"{_ends(sizes)} rows"] if sizes else []), *others])
    return f" combinations of {what} ({shown}) and users ({_ends(users)})"


def _ends(numbers: Sequence[int]) -> str:
    return " to ".join(dict.fromkeys(map(str, (numbers[0], numbers[-1]))))


def _winners(groups: Sequence[Leader], of_what: str) -> str:
    """`serial is fastest in 12 of 15 combinations ..., 1.10 to 1.69 times as fast as the next`."""
    won = grouped((each for each in groups if each.is_shown), lambda each: each.best.strategy)
    if not won:
        count = f" in any of {len(groups)}{of_what}" if len(groups) > 1 else ""
        return f"no technique is shown to be fastest{count}"
    verb = "came first" if groups[0].is_order else "is fastest"
    (first, its), *others = sorted(won.items(), key=lambda each: -len(each[1]))
    if len(groups) == 1:
        return f"{first} {verb}, {_lead(its)}"
    count = f"all {len(groups)}" if len(its) == len(groups) else f"{len(its)} of {len(groups)}"
    text = f"{first} {verb} in {count}{of_what}, {_lead(its)}"
    return ", ".join([text, *(f"{name} in {len(of)}" for name, of in others)])


def _services(groups: Sequence[Leader]) -> str:
    """How the best technique of one service compares with the best of the other."""
    ahead = {each.best.service for each in groups}
    if len(ahead) == 1 and all(each.is_shown for each in groups):
        one = groups[0].best.service
        other = "Python" if one == "java" else "Java"
        return f"{one.capitalize()} answers {_range(groups)} times as many requests as {other}"
    shown = [each.best.service for each in groups if each.is_shown]
    counts = [
        f"{name.capitalize()} is ahead in {shown.count(name)} of {len(groups)}"
        for name in dict.fromkeys(shown)
    ]
    return " and ".join(counts) or "neither service is shown to be ahead of the other"


def joined(items: Iterable[object], last: str = "and") -> str:
    """Such as `2, 3 and 5`."""
    *others, end = map(str, items)
    return f"{', '.join(others)} {last} {end}" if others else end


def _lead(group: Sequence[Leader]) -> str:
    """The lead of the best over the next: one ratio with its interval, or the range of several."""
    cell, found = group[0].others[0]
    if len(group) > 1 or found.estimate is None:
        return f"{_range(group)} times as fast as {'the next' if len(group) > 1 else cell.strategy}"
    estimate, _, interval = ratio_text(found).partition(" ")
    return " ".join(filter(None, (estimate, "times as fast as", cell.strategy, interval)))


def _range(group: Sequence[Leader]) -> str:
    """The smallest and the largest lead over the next; one number where both read the same. Where
    no block measured the next, it is out of the race."""
    found = [each.comparison.estimate for each in group if each.comparison]
    known = [each for each in found if each is not None]
    if not known:
        return f"over {OUT_OF_RACE:g}"
    return " to ".join(dict.fromkeys((readable(min(known)), readable(max(known)))))


def _sure(groups: Sequence[Leader], cheapest: Sequence[Leader]) -> str:
    """What the answer rests on: intervals, or that there are none, and whether CPU time agrees."""
    if not groups:
        return "There is no comparison to judge."
    by_cpu_time = _by_cpu_time(groups, cheapest)
    if all(each.is_order for each in groups):
        return f"One block gives no interval: this is only an order, not a verdict. {by_cpu_time}"
    if not any(_blocks(groups)):
        return f"No block measured two techniques of the same combination. {by_cpu_time}"
    best = [each for each in groups if each.verdict == "reproduced"]
    confidence = ", with 95 % confidence" if best else ","
    # Groups without a shown leader may have had a single block: the shown ones do not rest on it.
    return (
        f"A fastest technique is shown in {len(best) or 'none'} of {len(groups)} "
        f"combinations{confidence} over {trust.blocks_of(_blocks(best or groups))} of fresh "
        f"services; differences under {100 * MARGIN:.0f} % do not count. {by_cpu_time}"
    )


def _blocks(groups: Sequence[Leader]) -> list[int]:
    return [each.blocks for of in groups for each in of.tested or [found for _, found in of.others]]


def _by_cpu_time(groups: Sequence[Leader], cheapest: Sequence[Leader]) -> str:
    """In how many groups the fastest technique does not need the least CPU time: there the load
    generator may hide a difference in throughput."""
    group = attrgetter("scope", "best.complexity", "best.users")
    fastest = {group(each): each for each in groups}
    both = [(fastest[group(each)], each) for each in cheapest if group(each) in fastest]
    if not both:
        return "CPU time per request is not known."
    if all(fast.best == each.best for fast, each in both):
        return "By CPU time per request the same techniques come first."
    others = sum(each.is_shown and fast.best != each.best for fast, each in both)
    if not others:
        return "By CPU time per request no other technique is shown to lead."
    return f"By CPU time per request another technique leads in {others} of {len(both)}."
