"""What the name of each technique claims, and the check of it on the kernel's view: on the threads
of the Java service, on the processes of the Python service."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise

from restbench.observe.evidence import (
    CALLER,
    CROWD_PLACES,
    SHARED,
    WORKER_POOL,
    Batch,
    Claim,
    Evidence,
    Verdict,
)
from restbench.observe.observe import MOST, PART, Observation, Prefix

#: Threads run one at a time when fewer than this are alive on average.
ONE_AT_A_TIME = 1.5


def _one_thread(seen: Evidence, prefix: Prefix | None, what: str) -> Verdict:
    """`prefix` None: the request's own thread."""
    prefix = prefix or seen.caller
    active = [len(each.active(prefix)) for each in seen.single]
    share = seen.least_share(prefix)
    return (
        share >= MOST and max(active) == 1,
        f"{share:.0%} of the work in {what}, at most {max(active)} of them active per request",
    )


def _thread_pool(seen: Evidence) -> Verdict:
    prefix = "thread-pool"
    peak = max(each.peak[prefix] for each in seen.single)
    ids = [{task.tid for task in each.family(prefix)} for each in seen.single]
    reused = any(a & b for a, b in pairwise(ids))
    limit = min(seen.shape.rows, 100)
    share = min(_ended_share(each, seen.caller) for each in seen.single)
    return (
        share >= MOST and 2 <= peak <= limit and not reused,
        f"{share:.0%} of the work in threads that ended with the request, up to {peak} at once "
        f"(limit {limit}), {'some reused' if reused else 'new ones'} in each request",
    )


def _ended_share(observation: Observation, caller: Prefix) -> float:
    """The share of ended threads, too short-lived to be read, in their and the caller's CPU."""
    total = observation.ended_cpu_ns + observation.cpu_ns(caller)
    return observation.ended_cpu_ns / total if total else 0.0


def _pinned(seen: Evidence) -> Verdict:
    masks = {t.cores for each in [*seen.single, seen.double] for t in each.family("pinned")}
    share = seen.least_share("pinned")
    single = all(re.fullmatch(r"\d+", mask) and int(mask) in seen.cores for mask in masks)
    shown = ", ".join(f"core {mask}" for mask in sorted(masks)) or "none seen"
    return (
        share >= MOST and bool(masks) and single,
        f"{share:.0%} of the work in pinned workers; the kernel's affinity mask: {shown}",
    )


def _pipeline(seen: Evidence) -> Verdict:
    stages = ("pipe-parse", "pipe-compute", "pipe-serialize")
    alive = {stage: len(seen.double.family(stage)) for stage in stages}
    worked = all(each.cpu_ns((stage,)) > 0 for each in seen.single for stage in stages)
    share = seen.least_share("pipe-")
    return (
        share >= MOST and worked and all(alive.values()),
        f"{share:.0%} of the work in stage threads: "
        + ", ".join(f"{stage} x{number}" for stage, number in alive.items()),
    )


def _thread_per_element(seen: Evidence) -> Verdict:
    alive = max(each.mean_alive("element") for each in seen.single)
    made = min(each.threads_made for each in seen.single)
    elements = seen.shape.rows * seen.shape.columns
    # The kernel may still see a joined thread ending when the next one begins. So the mean decides:
    # it is 2 or more where two threads really run at the same time.
    return (
        1 <= alive < ONE_AT_A_TIME and made >= elements,
        f"{made} threads created for {elements} elements, {alive:.1f} alive on average",
    )


def _a_thread_a_core(seen: Evidence, prefix: str) -> Verdict:
    wanted = len(seen.cores)
    active = min(len(each.active(prefix)) for each in seen.single)
    ids = {task.tid for each in seen.single for task in each.family(prefix)}
    share = seen.least_share(prefix)
    return (
        share >= MOST and active == wanted == len(ids),
        f"{share:.0%} of the work in at least {active} pool threads per request, {len(ids)} "
        f"different ones over all requests, on {wanted} cores",
    )


def _virtual_threads(seen: Evidence) -> Verdict:
    share = seen.least_share("ForkJoi")
    return share >= MOST, f"{share:.0%} of the work on carrier threads of virtual threads"


def _pool_processes(observation: Observation, prefix: str) -> set[int]:
    return {observation.tasks[tid].pid for tid in observation.active(prefix)}


def _python_serial(seen: Evidence) -> Verdict:
    share = seen.least_share(seen.caller)
    return share >= 1 - PART, f"{share:.0%} of the work in the web process"


def _per_element(seen: Evidence, prefix: str) -> Verdict:
    elements = seen.shape.rows * seen.shape.columns
    workers = [_pool_processes(each, prefix) for each in seen.single]
    pids = {task.pid for each in seen.single for task in each.family(prefix)}
    messages = min(sum(each.reads[pid] for pid in pids) for each in seen.single)
    fewest = min(len(each) for each in workers)
    return (
        fewest == seen.pool_size == len(pids) and messages >= elements,
        f"at least {fewest} of {len(pids)} pool processes worked on each request "
        f"({seen.pool_size} expected); they read at least {messages} messages for {elements} "
        "elements",
    )


def _per_request(seen: Evidence, prefix: str) -> Verdict:
    share = seen.least_share(prefix)
    most = max(len(_pool_processes(each, prefix)) for each in seen.single)
    together = len(_pool_processes(seen.double, prefix))
    wanted = min(2, seen.pool_size)
    return (
        share >= MOST and most == 1 and together == wanted,
        f"{share:.0%} of the work in pool processes: {most} for one request, {together} for two at "
        "once",
    )


def _adaptive(seen: Evidence) -> Verdict:
    """The kernel saw each batch's work in the place that the service counts its requests under."""
    if seen.batches is None:
        raise ValueError("no batches were sent")
    small, large = seen.batches.small, seen.batches.large
    stayed = small.chosen.get(CALLER) == small.requests
    spread = len(seen.cores) == 1 or not any(batch.chosen.get(CALLER) for batch in large)
    verdicts = [_check_placement(seen, batch) for batch in (small, *large)]
    left, told_of_crowd = _check_concurrent_batch(seen, seen.batches.crowd)
    return (
        stayed and spread and left and all(does for does, _ in verdicts),
        f"small requests: {verdicts[0][1]}; large requests: "
        + "; ".join(text for _, text in verdicts[1:])
        + f"; {told_of_crowd}",
    )


def _check_placement(seen: Evidence, batch: Batch) -> Verdict:
    """All requests of the batch are counted under one place, and its threads did the work."""
    counted = _counted(seen, batch)
    if sum(counted.values()) != batch.requests or len(counted) != 1:
        return False, f"{batch.requests} requests, the service counted {counted or 'none'}"
    (place,) = counted
    prefix = seen.places[place]
    share, hands = seen.share(batch.seen, prefix), len(batch.seen.active(prefix))
    wanted = len(seen.cores) if place == SHARED else 1
    return (
        share >= MOST and (hands == wanted or batch.requests > 1),
        f"{place}, {share:.0%} of the work there, by {hands} threads or processes",
    )


def _check_concurrent_batch(seen: Evidence, crowd: Batch) -> Verdict:
    """Of many concurrent requests some leave their caller, and at least half of their proportional
    share of the work is done where they go: the first of them are decoded elsewhere."""
    counted, away = _counted(seen, crowd), CROWD_PLACES[seen.service]
    left = sum(counted.get(each, 0) for each in away)
    share = sum(seen.share(crowd.seen, seen.places[each]) for each in away)
    return (
        sum(counted.values()) == crowd.requests
        and left >= 1
        and share >= left / crowd.requests / 2,
        f"of {crowd.requests} at once {left} went to {' or '.join(away)}, {share:.0%} of the work "
        "there",
    )


def _counted(seen: Evidence, batch: Batch) -> dict[str, int]:
    return {each: int(n) for each, n in batch.chosen.items() if n and each in seen.places}


#: The same for both services.
ADAPTIVE: Claim = (
    "small requests stay with their caller, a large one leaves it, and of many at once some leave "
    "it; the service's own counts agree",
    _adaptive,
)
JAVA: dict[str, Claim] = {
    "serial": (
        "the request's own thread does everything",
        partial(_one_thread, prefix=None, what="the request's own thread"),
    ),
    "thread-pool": ("min(rows, 100) threads are created for each request", _thread_pool),
    "pinned": ("a worker thread bound to one core does everything", _pinned),
    "pipeline": ("parse, compute and serialize each have their own threads", _pipeline),
    "thread-per-element": ("a new thread for each element, never two at once", _thread_per_element),
    "shared-pool": (
        "one pool with one thread per core, shared by all requests",
        partial(_a_thread_a_core, prefix="shared"),
    ),
    "fork-join": (
        "a fork-join pool with one thread per core, shared by all requests",
        partial(_a_thread_a_core, prefix="fork-join"),
    ),
    "virtual-threads": ("one virtual thread for each row", _virtual_threads),
    "worker-pool": (
        "one thread of a pool does everything for a request",
        partial(_one_thread, prefix="worker-pool", what="threads of one pool"),
    ),
    "virtual-thread-per-request": (
        "one virtual thread per request does everything",
        partial(_one_thread, prefix="ForkJoi", what="carrier threads of virtual threads"),
    ),
    "adaptive": ADAPTIVE,
}
_AN_ELEMENT = "every element is a message to a {} with one process per core"
_A_REQUEST = "each request runs in one process of a {}"
_POOL, _EXECUTOR = "multiprocessing pool", "process pool executor"
PYTHON: dict[str, Claim] = {
    "serial": ("one process does everything", _python_serial),
    "process-per-element": (_AN_ELEMENT.format(_POOL), partial(_per_element, prefix="PE-")),
    "process-per-request": (_A_REQUEST.format(_POOL), partial(_per_request, prefix="PR-")),
    "executor-per-element": (_AN_ELEMENT.format(_EXECUTOR), partial(_per_element, prefix="EE-")),
    "executor-per-request": (_A_REQUEST.format(_EXECUTOR), partial(_per_request, prefix="ER-")),
    "worker-pool": (
        "one thread of a pool does everything for a request",
        partial(_one_thread, prefix=WORKER_POOL, what="threads of one pool"),
    ),
    "adaptive": ADAPTIVE,
}
