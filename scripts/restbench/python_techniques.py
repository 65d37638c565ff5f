"""What the names of the Python service's techniques say, and how the kernel shows it: processes."""

from __future__ import annotations

from restbench.observe import MOST, PART, Observation
from restbench.seen import ADAPTIVE, Claim, Seen, Verdict


def _pool_processes(observation: Observation, prefix: str) -> set[int]:
    tasks = observation.family(prefix)
    total = sum(task.cpu_ns for task in tasks)
    return {task.pid for task in tasks if total and task.cpu_ns / total >= PART}


def _serial(seen: Seen) -> Verdict:
    shares = [seen.share(each, "restbench-P") for each in seen.single]
    return (
        max(shares) <= PART,
        f"{1 - max(shares):.0%} of the work in the web process, none handed to a pool",
    )


def _process_per_element(seen: Seen) -> Verdict:
    elements = seen.shape.rows * seen.shape.columns
    prefix = "restbench-PE"
    workers = [_pool_processes(each, prefix) for each in seen.single]
    pids = {task.pid for each in seen.single for task in each.family(prefix)}
    messages = min(sum(each.reads[pid] for pid in pids) for each in seen.single)
    fewest = min(len(each) for each in workers)
    return (
        fewest == len(seen.cores) == len(pids) and messages >= elements,
        f"{fewest} pool processes of {len(pids)} worked on each request ({len(seen.cores)} cores); "
        f"they read at least {messages} messages for {elements} elements",
    )


def _process_per_request(seen: Seen) -> Verdict:
    prefix = "restbench-PR"
    share = seen.least_share(prefix)
    most = max(len(_pool_processes(each, prefix)) for each in seen.single)
    together = len(_pool_processes(seen.double, prefix))
    wanted = min(2, len(seen.cores))
    return (
        share >= MOST and most == 1 and together == wanted,
        f"{share:.0%} of the work in pool processes: {most} for one request, {together} for two",
    )


CLAIMS: dict[str, Claim] = {
    "serial": ("one process does everything", _serial),
    "process-per-element": (
        "every element is a message to a pool with a process a core",
        _process_per_element,
    ),
    "process-per-request": (
        "each request runs in one process of a pool",
        _process_per_request,
    ),
    "adaptive": ADAPTIVE,
}
