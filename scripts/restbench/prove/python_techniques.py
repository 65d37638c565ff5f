"""What the names of the Python service's techniques say, and how the kernel shows it: processes."""

from __future__ import annotations

from restbench.observe.observe import MOST, PART, Observation
from restbench.observe.seen import ADAPTIVE, POOLS, WORKER_POOL, Check, Claim, Seen, Verdict


def _pool_processes(observation: Observation, prefix: str) -> set[int]:
    tasks = observation.family(prefix)
    total = sum(task.cpu_ns for task in tasks)
    return {task.pid for task in tasks if total and task.cpu_ns / total >= PART}


def _serial(seen: Seen) -> Verdict:
    handed = max(sum(seen.share(each, pool) for pool in POOLS) for each in seen.single)
    return (
        handed <= PART,
        f"{1 - handed:.0%} of the work in the web process, none handed to a pool",
    )


def _per_element(prefix: str) -> Check:
    def check(seen: Seen) -> Verdict:
        elements = seen.shape.rows * seen.shape.columns
        workers = [_pool_processes(each, prefix) for each in seen.single]
        pids = {task.pid for each in seen.single for task in each.family(prefix)}
        messages = min(sum(each.reads[pid] for pid in pids) for each in seen.single)
        fewest = min(len(each) for each in workers)
        return (
            fewest == seen.pool_size == len(pids) and messages >= elements,
            f"{fewest} pool processes of {len(pids)} worked on each request ({seen.pool_size} "
            f"wanted); they read at least {messages} messages for {elements} elements",
        )

    return check


def _per_request(prefix: str) -> Check:
    def check(seen: Seen) -> Verdict:
        share = seen.least_share(prefix)
        most = max(len(_pool_processes(each, prefix)) for each in seen.single)
        together = len(_pool_processes(seen.double, prefix))
        wanted = min(2, seen.pool_size)
        return (
            share >= MOST and most == 1 and together == wanted,
            f"{share:.0%} of the work in pool processes: {most} for one request, {together} for "
            "two",
        )

    return check


def _worker_pool(seen: Seen) -> Verdict:
    share = seen.least_share(WORKER_POOL)
    active = max(len(each.active(WORKER_POOL)) for each in seen.single)
    return (
        share >= MOST and active == 1,
        f"{share:.0%} of the work in threads of one pool, {active} at a time per request",
    )


AN_ELEMENT = "every element is a message to a {} with a process a core"
A_REQUEST = "each request runs in one process of a {}"
POOL, EXECUTOR = "multiprocessing pool", "process pool executor"
CLAIMS: dict[str, Claim] = {
    "serial": ("one process does everything", _serial),
    "process-per-element": (AN_ELEMENT.format(POOL), _per_element("PE-")),
    "process-per-request": (A_REQUEST.format(POOL), _per_request("PR-")),
    "executor-per-element": (AN_ELEMENT.format(EXECUTOR), _per_element("EE-")),
    "executor-per-request": (A_REQUEST.format(EXECUTOR), _per_request("ER-")),
    "worker-pool": ("a thread of one pool does everything", _worker_pool),
    "adaptive": ADAPTIVE,
}
