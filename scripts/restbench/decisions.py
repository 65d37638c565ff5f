"""Does the strategy that chooses do what it says it chose? Its count against the kernel's view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from restbench.cell import Shape
from restbench.observe import MOST, PART, Observation

STRATEGY = "adaptive"
CALLER = "caller"
#: A decision beside that for a place: others helped with the request's loops.
BLOCKS = "blocks"
#: By each decision for a place, the threads or processes that compute there, as a prefix.
PLACES: dict[str, dict[str, str]] = {
    "java": {CALLER: "http-", "in-turn": "adapt-turn", "low-priority-thread": "adapt-long"},
    "python": {
        # The interpreter that gunicorn runs in: `python -m gunicorn`.
        CALLER: "python",
        "process": "restbench-PR",
        "low-priority-process": "restbench-PR",
    },
}
#: Where large ones of many go: Python's process may find out only there that it is to give way.
OF_MANY = {
    "java": ("low-priority-thread",),
    "python": ("process", "low-priority-process"),
}
#: Who helps with a loop of a request that stays with its caller; elsewhere those of its place do.
HELPERS = {"java": "adapt-long"}
#: So many that what they take together is seen.
SMALL, SMALL_REQUESTS = Shape(rows=4, inner=4, columns=4), 20
LARGE: dict[str, Shape] = {
    "java": Shape(rows=500, inner=500, columns=500),
    "python": Shape(rows=150, inner=100, columns=100),
}


@dataclass(frozen=True)
class Batch:
    """Requests alike."""

    requests: int
    seen: Observation
    chosen: Mapping[str, float]
    """How often the service counted each decision meanwhile."""


@dataclass(frozen=True)
class Batches:
    """What the strategy was sent."""

    small: Batch
    """One after the other."""
    large: Sequence[Batch]
    """Each of one request."""
    crowd: Batch
    """As large ones, more at once than there are cores."""


def judge(service: str, sent: Batches, workers: tuple[str, ...], cores: int) -> tuple[bool, str]:
    """`workers` are all families that can do the work, `cores` the service's."""
    small, large = sent.small, sent.large
    stayed = small.chosen.get(CALLER) == small.requests
    spread = cores == 1 or not any(
        batch.chosen.get(CALLER) and not batch.chosen.get(BLOCKS) for batch in large
    )
    verdicts = [_judged(service, batch, workers) for batch in (small, *large)]
    gave_way, told_of_crowd = _judged_crowd(service, sent.crowd, workers)
    return (
        stayed and spread and gave_way and all(does for does, _ in verdicts),
        f"small ones: {verdicts[0][1]}; large ones: "
        + "; ".join(told for _, told in verdicts[1:])
        + f"; {told_of_crowd}",
    )


def _judged(service: str, batch: Batch, workers: tuple[str, ...]) -> tuple[bool, str]:
    """Every request has one place, and the threads of that place did the work, or helped."""
    places = {each: int(n) for each, n in batch.chosen.items() if n and each in PLACES[service]}
    if sum(places.values()) != batch.requests or len(places) != 1:
        return False, f"{batch.requests} requests, {places or 'none'} counted"
    place = next(iter(places))
    helped = bool(batch.chosen.get(BLOCKS))
    prefixes = [PLACES[service][place]]
    if helped and place == CALLER and service in HELPERS:
        prefixes.append(HELPERS[service])
    parts = [batch.seen.share(prefix, workers) for prefix in prefixes]
    hands = [len(batch.seen.active(prefix)) for prefix in prefixes]
    how = "in blocks" if helped else "in order"
    several = helped or batch.requests > 1
    return (
        sum(parts) >= MOST and min(parts) >= PART and (several or hands == [1]),
        f"{place}, {sum(parts):.0%} of the work there, by {sum(hands)} {how}",
    )


def _judged_crowd(service: str, crowd: Batch, workers: tuple[str, ...]) -> tuple[bool, str]:
    """Some leave their caller, in Python all, and do their part of the work where they go: half of
    it at least, as the first of them are read elsewhere."""
    places = {each: int(crowd.chosen.get(each, 0)) for each in PLACES[service]}
    left = sum(places[each] for each in OF_MANY[service])
    prefixes = {PLACES[service][each] for each in OF_MANY[service]}
    share = sum(crowd.seen.share(prefix, workers) for prefix in prefixes)
    return (
        sum(places.values()) == crowd.requests
        and left >= (1 if service in HELPERS else crowd.requests)
        and share >= left / crowd.requests / 2,
        f"of {crowd.requests} at once {left} {' or '.join(OF_MANY[service])}, "
        f"{share:.0%} of the work there",
    )
