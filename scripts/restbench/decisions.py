"""Does the strategy that chooses do what it says it chose? Its count against the kernel's view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from restbench.cell import Shape
from restbench.observe import MOST, Observation

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
#: So many that what they take together is seen.
SMALL, SMALL_REQUESTS = Shape(rows=4, inner=4, columns=4), 20
LARGE: dict[str, Shape] = {
    "java": Shape(rows=500, inner=500, columns=500),
    "python": Shape(rows=150, inner=100, columns=100),
}


@dataclass(frozen=True)
class Batch:
    """Requests alike, one after the other."""

    requests: int
    seen: Observation
    chosen: Mapping[str, float]
    """How often the service counted each decision meanwhile."""


def judge(
    service: str, small: Batch, large: Sequence[Batch], workers: tuple[str, ...]
) -> tuple[bool, str]:
    """`large` are batches of one request; `workers` are all families that can do the work."""
    stayed = small.chosen.get(CALLER) == small.requests
    left = not any(batch.chosen.get(CALLER) for batch in large)
    verdicts = [_judged(service, batch, workers) for batch in (small, *large)]
    return (
        stayed and left and all(does for does, _ in verdicts),
        f"small ones: {verdicts[0][1]}; large ones: " + "; ".join(told for _, told in verdicts[1:]),
    )


def _judged(service: str, batch: Batch, workers: tuple[str, ...]) -> tuple[bool, str]:
    """Every request has one place, and the threads of that place did the work."""
    places = {each: int(n) for each, n in batch.chosen.items() if n and each in PLACES[service]}
    if sum(places.values()) != batch.requests or len(places) != 1:
        return False, f"{batch.requests} requests, {places or 'none'} counted"
    place = next(iter(places))
    prefix = PLACES[service][place]
    share, hands = batch.seen.share(prefix, workers), len(batch.seen.active(prefix))
    helped = bool(batch.chosen.get(BLOCKS))
    how = "in blocks" if helped else "in order"
    several = helped or batch.requests > 1
    return (
        share >= MOST and (several or hands == 1),
        f"{place}, {share:.0%} of the work there, by {hands} {how}",
    )
