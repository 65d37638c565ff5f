"""The answer in words: from the leaders of all groups to one sentence on what is best where, and
one on how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.comparison import MARGIN
from restbench.analyse.leader import Leader, Scope
from restbench.experiment.cell import users_text
from restbench.experiment.columns import readable
from restbench.judge.claim_parts import ratio_text

NAMES: dict[Scope, str] = {"java": "in Java", "python": "in Python", "both": "over both services"}
#: How many cells a sentence names.
_NAMED = 3
_TIMES = "\N{MULTIPLICATION SIGN}"


def what(told: Sequence[Leader]) -> str:
    """Which technique is best where; ties are said as such."""
    parts = [_scope(scope, [each for each in told if each.scope == scope]) for scope in NAMES]
    text = "; ".join(part for part in parts if part)
    if not text:
        return "No two techniques were measured beside each other, so none is best."
    return f"{text[0].upper()}{text[1:]}."


def how_sure(
    told: Sequence[Leader], cheapest: Sequence[Leader], without_number: Sequence[str]
) -> str:
    """The intervals, or that there are none; what is undecided, doubtful or missing."""
    groups = [each for each in told if each.scope != "both"] or list(told)
    if not groups:
        return "There is nothing to be sure of."
    notes = [
        _statistics(groups),
        _by_cpu_time(groups, cheapest),
        _doubts(groups),
        _missing(without_number),
        _absent(groups),
    ]
    return f"How sure: {'; '.join(note for note in notes if note)}."


def _scope(scope: Scope, told: Sequence[Leader]) -> str:
    """`in Java, S is best at low with 10 and 30 users by 1.5 to 2 times, ...`, ties last."""
    outcomes: dict[str, list[Leader]] = {}
    for each in sorted(told, key=lambda leader: leader.verdict == "no detectable best"):
        outcomes.setdefault(_outcome(each), []).append(each)
    clauses = [f"{said} {_places(group, told)}{_lead(group)}" for said, group in outcomes.items()]
    return f"{NAMES[scope]}, {', '.join(clauses)}" if clauses else ""


def _outcome(leader: Leader) -> str:
    if leader.verdict == "best":
        return f"{_name(leader)} is best"
    if leader.verdict == "one run":
        return f"{_name(leader)} came first"
    if leader.scope == "both":
        return "neither service is detectably best"
    return f"none is detectably best ({_and(sorted({c.key for c in (leader.best, *leader.tied)}))})"


def _name(leader: Leader) -> str:
    return leader.best.service.capitalize() if leader.scope == "both" else leader.best.key


def _places(group: Sequence[Leader], told: Sequence[Leader]) -> str:
    """`at low and medium with 10 and 30 users`: levels with the same users stand together."""
    if len(group) == len(told) > 1 and _is_whole(told):
        return "everywhere"
    levels: dict[str, list[str]] = {}
    for users, complexities in _alike(group).items():
        every = _alike([each for each in told if each.complexity in complexities])
        whole = list(every) == [users] and len(users) > 1 and _is_whole(group)
        load = "at every load" if whole else _with(users)
        levels.setdefault(load, []).extend(complexities)
    places = [f"at {_and(names)} {load}" for load, names in levels.items()]
    return _and(places)


def _is_whole(group: Sequence[Leader]) -> bool:
    """Whether every technique stood in each of these groups."""
    return not any(each.absent or each.missing for each in group)


def _alike(group: Sequence[Leader]) -> dict[tuple[str, ...], list[str]]:
    """The complexities by the numbers of users that they have in the group."""
    users: dict[str, list[str]] = {}
    for each in group:
        users.setdefault(each.complexity, []).append(str(each.users))
    levels: dict[tuple[str, ...], list[str]] = {}
    for complexity, numbers in users.items():
        levels.setdefault(tuple(numbers), []).append(complexity)
    return levels


def _with(users: Sequence[str]) -> str:
    *several, last = users
    return f"with {_and([*several, users_text(int(last))])}"


def _and(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _lead(group: Sequence[Leader]) -> str:
    """How far ahead of the next: one ratio with its interval, or the range of several."""
    if group[0].verdict == "no detectable best":
        return ""
    found = [each.comparison for each in group if each.comparison]
    estimates = [each.estimate for each in found if each.estimate]
    if len(estimates) > 1:
        low, high = readable(min(estimates)), readable(max(estimates))
        return f" ({low} to {high}{_TIMES} the next)"
    estimate, _, interval = ratio_text(found[0]).partition(" ")
    runner_up = group[0].runner_up
    words = [f"{estimate}{_TIMES}", runner_up.key if runner_up else "", interval]
    return f" ({' '.join(word for word in words if word)})"


def _statistics(told: Sequence[Leader]) -> str:
    numbers = [each.comparison.blocks for each in told if each.comparison]
    fewest, most = min(numbers), max(numbers)
    blocks = str(most) if fewest == most else f"{fewest} to {most}"
    once = sum(each.verdict == "one run" for each in told)
    if once == len(told):
        return "one run, no interval: every cell was measured once, so this is an order, no verdict"
    best = sum(each.verdict == "best" for each in told)
    text = (
        f"95 % t intervals over {blocks} blocks, Holm over the groups of a service, a difference "
        f"counts above {100 * MARGIN:.0f} %; {best} of {len(told)} groups have a detectable best"
    )
    return f"{text}, {once} were measured once" if once else text


def _by_cpu_time(told: Sequence[Leader], cheapest: Sequence[Leader]) -> str:
    """Where the fastest is not the cheapest: a slow generator may hide the difference."""
    fastest = {(each.scope, each.complexity, each.users): each.best for each in told}
    both = [each for each in cheapest if (each.scope, each.complexity, each.users) in fastest]
    others = sum(
        each.verdict in ("best", "one run")
        and fastest[each.scope, each.complexity, each.users] != each.best
        for each in both
    )
    if not both:
        return "CPU time per request is not known"
    return f"by CPU time per request another technique leads in {others} of {len(both)} groups"


def _doubts(told: Sequence[Leader]) -> str:
    groups = sum(bool(each.doubtful) for each in told)
    cells = dict.fromkeys(cell for each in told for cell in each.doubtful)
    if not cells:
        return "no cell of them is marked as doubtful"
    marked = "1 cell is" if len(cells) == 1 else f"{len(cells)} cells are"
    return f"{marked} marked as doubtful, in {groups} of {len(told)} groups"


def _missing(cells: Sequence[str]) -> str:
    more = [f"{len(cells) - _NAMED} more"] if len(cells) > _NAMED else []
    lacking = "1 cell has" if len(cells) == 1 else f"{len(cells)} cells have"
    return f"{lacking} no number ({_and([*cells[:_NAMED], *more])})" if cells else ""


def _absent(told: Sequence[Leader]) -> str:
    groups = [each for each in told if each.absent]
    names = dict.fromkeys(name for each in groups for name in each.absent)
    if not groups:
        return ""
    return (
        f"{len(groups)} of {len(told)} groups were not measured with all techniques of their "
        f"service ({_and(list(names))} lacking in some)"
    )
