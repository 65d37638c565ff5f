"""Does the strategy that chooses do what it says it chose? Its count against the kernel's view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from restbench.experiment.cell import Shape
from restbench.observe.observe import MOST, Observation, Prefix

Families = tuple[str, ...]
Places = dict[str, Prefix]
#: The names of the web process's threads: of the interpreter or its server; from Python 3.14 on of
#: gunicorn's pool or ours (`event_loop.serving`).
WEB = ("gunicorn", "python", "uvicorn", "ThreadPool", "request")
STRATEGY = "adaptive"
CALLER = "caller"
#: Where a request's loops are cut, one piece a core.
SHARED = "shared-pool"
#: By each decision, the threads or processes that compute then, as a prefix of their names.
PLACES: dict[str, Places] = {
    "java": {CALLER: "http-", SHARED: "shared", "low-priority": "adapt-long"},
    # The web process, the pool of process-per-request, and one of its own.
    "python": {CALLER: WEB, "process": "PR-", "low-priority": "F1-"},
}
#: By the framework, what a caller is named where it is not the service's usual: Helidon's are
#: virtual threads, so that what the kernel sees is their carriers, and an event loop may run them.
CALLERS: dict[str, Prefix] = {
    "helidon": "ForkJoi",
    "reactor-netty/loop": "reactor-loop",
    "vertx/loop": "vert.x-event",
}
#: Where large ones of many go.
OF_MANY = {"java": ("low-priority",), "python": ("process", "low-priority")}
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


def caller_of(service: str, framework: str) -> Prefix:
    """The threads that a request arrives on, as a prefix of their names."""
    return CALLERS.get(framework, PLACES[service][CALLER])


def judge(
    service: str, sent: Batches, workers: Families, cores: int, framework: str
) -> tuple[bool, str]:
    """`workers` are all families that can do the work, `cores` the service's."""
    places = PLACES[service] | {CALLER: caller_of(service, framework)}
    small, large = sent.small, sent.large
    stayed = small.chosen.get(CALLER) == small.requests
    spread = cores == 1 or not any(batch.chosen.get(CALLER) for batch in large)
    verdicts = [_judged(places, batch, workers, cores) for batch in (small, *large)]
    left, told_of_crowd = _judged_crowd(service, places, sent.crowd, workers)
    return (
        stayed and spread and left and all(does for does, _ in verdicts),
        f"small ones: {verdicts[0][1]}; large ones: "
        + "; ".join(text for _, text in verdicts[1:])
        + f"; {told_of_crowd}",
    )


def _judged(places: Places, batch: Batch, workers: Families, cores: int) -> tuple[bool, str]:
    """Every request has one place, and the threads of that place did the work."""
    counted = _counted(places, batch)
    if sum(counted.values()) != batch.requests or len(counted) != 1:
        return False, f"{batch.requests} requests, {counted or 'none'} counted"
    place = next(iter(counted))
    prefix = places[place]
    share, hands = batch.seen.share(prefix, workers), len(batch.seen.active(prefix))
    wanted = cores if place == SHARED else 1
    return (
        share >= MOST and (hands == wanted or batch.requests > 1),
        f"{place}, {share:.0%} of the work there, by {hands}",
    )


def _judged_crowd(
    service: str, places: Places, crowd: Batch, workers: Families
) -> tuple[bool, str]:
    """Some leave their caller, and do their part of the work where they go: half of it at least, as
    the first of them are read elsewhere."""
    counted = _counted(places, crowd)
    left = sum(counted.get(each, 0) for each in OF_MANY[service])
    share = sum(crowd.seen.share(places[each], workers) for each in OF_MANY[service])
    return (
        sum(counted.values()) == crowd.requests
        and left >= 1
        and share >= left / crowd.requests / 2,
        f"of {crowd.requests} at once {left} {' or '.join(OF_MANY[service])}, "
        f"{share:.0%} of the work there",
    )


def _counted(places: Places, batch: Batch) -> dict[str, int]:
    return {each: int(n) for each, n in batch.chosen.items() if n and each in places}
