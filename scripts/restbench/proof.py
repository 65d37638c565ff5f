"""Does a strategy do what its name says? Decided from what the kernel saw while it served.

Each claim is a sentence and a check over observations of single requests (and of two at once).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import httpx

from restbench import decisions
from restbench.cell import Placement, Shape
from restbench.decisions import Batch
from restbench.observe import MOST, PART, Observation, Watch
from restbench.payload import Payload, make_payload
from restbench.records import Proof
from restbench.service import Service

#: Requests one after the other, each watched on its own.
REQUESTS = 3
#: How often a denial is looked at again.
SECOND_LOOKS = 2
#: Threads run one at a time when fewer than this are alive on average.
ONE_AT_A_TIME = 1.5

#: Mostly multiplication, enough of it to be seen, little enough for a proof in seconds.
SHAPES = {
    "java": Shape(rows=400, inner=400, columns=400),
    "python": Shape(rows=60, inner=100, columns=50),
}
#: A line of the service's metrics; its labels are in alphabetical order, or as they were given.
DECISIONS = re.compile(
    r'^restbench_decisions_total\{.*?decision="([^"]+)".*\} (\S+)$', re.MULTILINE
)
#: A thread an element: fewer elements, each with more to do.
OTHER_SHAPES = {("java", "thread-per-element"): Shape(rows=20, inner=2000, columns=20)}
#: The threads that can do a request's work; the JVM's own compiler and GC threads are left out.
REQUEST_THREADS = "http-"
WORKERS = {
    "java": (
        REQUEST_THREADS,
        "thread-pool",
        "pinned",
        "pipe-",
        "element",
        "shared",
        "adapt-",
        "ForkJoi",
    ),
    "python": ("gunicorn", "python", "restbench-P"),
}


@dataclass(frozen=True)
class Seen:
    """What was watched: one observation a request, and one of two requests at once."""

    single: list[Observation]
    double: Observation
    service: str
    cores: tuple[int, ...]
    shape: Shape
    batches: Sequence[Batch] = ()
    """Of the strategy that chooses: small requests, then large ones, each of these alone."""

    @property
    def workers(self) -> tuple[str, ...]:
        """The families that can do a request's work in this service."""
        return WORKERS[self.service]

    def share(self, observation: Observation, prefix: str) -> float:
        """The family's part of all workers' CPU time."""
        return observation.share(prefix, self.workers)

    def least_share(self, prefix: str) -> float:
        """The smallest such part over the single requests."""
        return min(self.share(each, prefix) for each in self.single)


Verdict = tuple[bool, str]
Check = Callable[[Seen], Verdict]


def _one_thread(seen: Seen, prefix: str, what: str) -> Verdict:
    active = [len(each.active(prefix)) for each in seen.single]
    share = seen.least_share(prefix)
    return (
        share >= MOST and max(active) == 1,
        f"{share:.0%} of the work in {what}, {max(active)} at a time per request",
    )


def _java_serial(seen: Seen) -> Verdict:
    return _one_thread(seen, REQUEST_THREADS, "the request's own thread")


def _thread_pool(seen: Seen) -> Verdict:
    prefix = "thread-pool"
    peak = max(each.peak[prefix] for each in seen.single)
    ids = [{task.tid for task in each.family(prefix)} for each in seen.single]
    reused = any(a & b for a, b in pairwise(ids))
    limit = min(seen.shape.rows, 100)
    share = min(_ended_share(each) for each in seen.single)
    return (
        share >= MOST and 2 <= peak <= limit and not reused,
        f"{share:.0%} of the work in threads that ended with the request, up to {peak} at once "
        f"(limit {limit}), {'some reused' if reused else 'new ones'} in each request",
    )


def _ended_share(observation: Observation) -> float:
    """Threads that came and went, too short-lived to be read, against the request's own."""
    total = observation.ended_cpu_ns + observation.cpu_ns((REQUEST_THREADS,))
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
    wanted = len(seen.cores)
    active = min(len(each.active("shared")) for each in seen.single)
    ids = {task.tid for each in seen.single for task in each.family("shared")}
    share = seen.least_share("shared")
    return (
        share >= MOST and active == wanted == len(ids),
        f"{share:.0%} of the work in {active} pool threads of {len(ids)}, {wanted} cores, "
        "the same in each request",
    )


def _virtual_threads(seen: Seen) -> Verdict:
    share = seen.least_share("ForkJoi")
    return share >= MOST, f"{share:.0%} of the work on carrier threads of virtual threads"


def _pool_processes(observation: Observation, prefix: str) -> set[int]:
    tasks = observation.family(prefix)
    total = sum(task.cpu_ns for task in tasks)
    return {task.pid for task in tasks if total and task.cpu_ns / total >= PART}


def _python_serial(seen: Seen) -> Verdict:
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


def _adaptive(seen: Seen) -> Verdict:
    small, *large = seen.batches
    return decisions.judge(seen.service, small, large, seen.workers)


CLAIMS: dict[tuple[str, str], tuple[str, Check]] = {
    ("java", "serial"): ("the request's own thread does everything", _java_serial),
    ("java", "thread-pool"): ("min(rows, 100) threads are made for each request", _thread_pool),
    ("java", "pinned"): ("a worker thread bound to one core does everything", _pinned),
    ("java", "pipeline"): ("parse, compute and serialize have threads of their own", _pipeline),
    ("java", "thread-per-element"): (
        "a new thread for each element, never two at once",
        _thread_per_element,
    ),
    ("java", "shared-pool"): ("one pool, a thread a core, shared by all", _shared_pool),
    ("java", "virtual-threads"): ("a virtual thread a row", _virtual_threads),
    ("java", "adaptive"): (
        "small requests stay with their caller, large ones leave it, as its own count says",
        _adaptive,
    ),
    ("python", "serial"): ("one process does everything", _python_serial),
    ("python", "process-per-element"): (
        "every element is a message to a pool with a process a core",
        _process_per_element,
    ),
    ("python", "process-per-request"): (
        "each request runs in one process of a pool",
        _process_per_request,
    ),
    ("python", "adaptive"): (
        "small requests stay with their caller, large ones leave it, as its own count says",
        _adaptive,
    ),
}


def prove(service: Service, strategy: str, placement: Placement, cores: tuple[int, ...]) -> Proof:
    """Send a few requests, watch the kernel's view, and say whether the name is deserved."""
    claim, check = CLAIMS[service.name, strategy]
    if service.attached:
        does, evidence = None, "an attached service's processes cannot be looked at"
    else:
        does, evidence = _look(service, strategy, cores, check)
    return Proof(
        service=service.name,
        strategy=strategy,
        placement=placement,
        does=does,
        claim=claim,
        evidence=evidence,
    )


def _look(service: Service, strategy: str, cores: tuple[int, ...], check: Check) -> Verdict:
    """A denial is looked at again: what else runs on the machine can hide what a strategy does,
    but a strategy that does not do it has nothing to show, however often one looks."""
    try:
        verdict = check(_watch(service, strategy, cores))
        for _ in range(SECOND_LOOKS):
            if not verdict[0]:
                verdict = check(_watch(service, strategy, cores))
        return verdict
    except httpx.HTTPError as error:
        return False, f"it gave no answer to look at: {error}"


def _watch(service: Service, strategy: str, cores: tuple[int, ...]) -> Seen:
    shape = OTHER_SHAPES.get((service.name, strategy), SHAPES[service.name])
    payload = make_payload(shape, seed=0, element_min=0, element_max=9)
    families = WORKERS[service.name]

    def observed(at_once: int) -> Observation:
        with Watch(service.pids, families) as watch, ThreadPoolExecutor(at_once) as clients:
            list(clients.map(lambda n: _send(service, strategy, payload, n), range(at_once)))
        return watch.seen

    observed(1)  # the first request pays for class loading and lazily made pools
    return Seen(
        single=[observed(1) for _ in range(REQUESTS)],
        double=observed(2),
        service=service.name,
        cores=cores,
        shape=shape,
        batches=_batches(service) if strategy == decisions.STRATEGY else (),
    )


def _batches(service: Service) -> list[Batch]:
    small = _batch(service, decisions.SMALL, decisions.SMALL_REQUESTS)
    return [small, *(_batch(service, decisions.LARGE[service.name], 1) for _ in range(REQUESTS))]


def _batch(service: Service, shape: Shape, requests: int) -> Batch:
    payload = make_payload(shape, seed=0, element_min=0, element_max=9)
    before = _decisions(service)
    with Watch(service.pids, WORKERS[service.name]) as watch:
        for number in range(requests):
            _send(service, decisions.STRATEGY, payload, number)
    chosen = {each: n - before.get(each, 0) for each, n in _decisions(service).items()}
    return Batch(requests=requests, seen=watch.seen, chosen=chosen)


def _decisions(service: Service) -> dict[str, float]:
    """How often the service says that its strategy decided for what."""
    text = service.get("/metrics").text
    return {decision: float(count) for decision, count in DECISIONS.findall(text)}


def _send(service: Service, strategy: str, payload: Payload, number: int) -> None:
    service.post(strategy, "loops", payload.body(number)).raise_for_status()


def _listed(masks: set[str]) -> str:
    return ", ".join(f"core {mask}" for mask in sorted(masks)) or "none seen"
