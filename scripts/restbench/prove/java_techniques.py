"""What the names of the Java service's techniques say, and how the kernel shows it: threads."""

from __future__ import annotations

import re
from itertools import pairwise

from restbench.observe.observe import MOST, Observation, Prefix
from restbench.observe.seen import ADAPTIVE, Claim, Seen, Verdict

#: Threads run one at a time when fewer than this are alive on average.
ONE_AT_A_TIME = 1.5


def _one_thread(seen: Seen, prefix: Prefix, what: str) -> Verdict:
    active = [len(each.active(prefix)) for each in seen.single]
    share = seen.least_share(prefix)
    return (
        share >= MOST and max(active) == 1,
        f"{share:.0%} of the work in {what}, {max(active)} at a time per request",
    )


def _serial(seen: Seen) -> Verdict:
    return _one_thread(seen, seen.caller, "the request's own thread")


def _thread_pool(seen: Seen) -> Verdict:
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
    """Threads that came and went, too short-lived to be read, against the request's own."""
    total = observation.ended_cpu_ns + observation.cpu_ns(caller)
    return observation.ended_cpu_ns / total if total else 0.0


def _pinned(seen: Seen) -> Verdict:
    masks = {t.cores for each in [*seen.single, seen.double] for t in each.family("pinned")}
    share = seen.least_share("pinned")
    single = all(re.fullmatch(r"\d+", mask) and int(mask) in seen.cores for mask in masks)
    return (
        share >= MOST and bool(masks) and single,
        f"{share:.0%} of the work in pinned workers; kernel's mask: {_listed(masks)}",
    )


def _pipeline(seen: Seen) -> Verdict:
    stages = ("pipe-parse", "pipe-compute", "pipe-serialize")
    alive = {stage: len(seen.double.family(stage)) for stage in stages}
    worked = all(each.cpu_ns((stage,)) > 0 for each in seen.single for stage in stages)
    share = seen.least_share("pipe-")
    return (
        share >= MOST and worked and all(alive.values()),
        f"{share:.0%} of the work in stage threads: "
        + ", ".join(f"{stage} x{number}" for stage, number in alive.items()),
    )


def _thread_per_element(seen: Seen) -> Verdict:
    alive = max(each.mean_alive("element") for each in seen.single)
    made = min(each.threads_made for each in seen.single)
    elements = seen.shape.rows * seen.shape.columns
    # One that was joined may still be ending, as the kernel sees it, when the next begins: so the
    # mean decides, which is 2 or more where two really run together.
    return (
        1 <= alive < ONE_AT_A_TIME and made >= elements,
        f"{made} threads made for {elements} elements, {alive:.1f} alive on average",
    )


def _shared_pool(seen: Seen) -> Verdict:
    return _pool_of_a_thread_a_core(seen, "shared")


def _fork_join(seen: Seen) -> Verdict:
    return _pool_of_a_thread_a_core(seen, "fork-join")


def _pool_of_a_thread_a_core(seen: Seen, prefix: str) -> Verdict:
    wanted = len(seen.cores)
    active = min(len(each.active(prefix)) for each in seen.single)
    ids = {task.tid for each in seen.single for task in each.family(prefix)}
    share = seen.least_share(prefix)
    return (
        share >= MOST and active == wanted == len(ids),
        f"{share:.0%} of the work in {active} pool threads of {len(ids)}, {wanted} cores, "
        "the same in each request",
    )


def _virtual_threads(seen: Seen) -> Verdict:
    share = seen.least_share("ForkJoi")
    return share >= MOST, f"{share:.0%} of the work on carrier threads of virtual threads"


def _worker_pool(seen: Seen) -> Verdict:
    return _one_thread(seen, "worker-pool", "threads of one pool")


def _virtual_thread_per_request(seen: Seen) -> Verdict:
    return _one_thread(seen, "ForkJoi", "carrier threads of virtual threads")


CLAIMS: dict[str, Claim] = {
    "serial": ("the request's own thread does everything", _serial),
    "thread-pool": ("min(rows, 100) threads are made for each request", _thread_pool),
    "pinned": ("a worker thread bound to one core does everything", _pinned),
    "pipeline": ("parse, compute and serialize have threads of their own", _pipeline),
    "thread-per-element": ("a new thread for each element, never two at once", _thread_per_element),
    "shared-pool": ("one pool, a thread a core, shared by all", _shared_pool),
    "fork-join": ("a fork-join pool, a thread a core, shared by all", _fork_join),
    "virtual-threads": ("a virtual thread a row", _virtual_threads),
    "worker-pool": ("a thread of one pool does everything", _worker_pool),
    "virtual-thread-per-request": (
        "a virtual thread of the request's own does everything",
        _virtual_thread_per_request,
    ),
    "adaptive": ADAPTIVE,
}


def _listed(masks: set[str]) -> str:
    return ", ".join(f"core {mask}" for mask in sorted(masks)) or "none seen"
