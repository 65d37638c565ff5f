"""Does a strategy do what its name says? Decided from what the kernel saw of the service.

Each claim (`techniques`) is a sentence and a check over observations of
single requests, and of two at once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx

from restbench.deploy.service import Service
from restbench.drive.payload import Payload, make_payload, path_of
from restbench.experiment.cell import PROVEN, Cell, Shape
from restbench.experiment.records import Proof
from restbench.failures import EnvironmentProblem
from restbench.observe import evidence
from restbench.observe.evidence import WORKERS, Batch, Batches, Check, Evidence, Verdict
from restbench.observe.observe import Observation, watched
from restbench.prove import techniques

#: Requests one after the other, each watched on its own.
REQUESTS = 3
#: For two seconds the adaptive strategy expects as many concurrent requests as it has just seen.
CONCURRENCY_MEMORY_S = 2.1
#: How many more times a check that denies is repeated.
SECOND_LOOKS = 2

#: Requests with enough multiplication to be seen, and little enough for a proof in seconds.
SHAPES = {
    "java": Shape(rows=400, inner=400, columns=400),
    "python": Shape(rows=60, inner=100, columns=50),
}
#: A decision count in the service's metrics; the order of the labels depends on the service.
DECISIONS = re.compile(
    r'^restbench_decisions_total\{.*?decision="([^"]+)".*\} (\S+)$', re.MULTILINE
)
#: Thread-per-element makes one thread for each element: fewer elements, each with more work.
OTHER_SHAPES = {("java", "thread-per-element"): Shape(rows=20, inner=2000, columns=20)}
CLAIMS = {"java": techniques.JAVA, "python": techniques.PYTHON}


def prove(service: Service, cell: Cell, cores: tuple[int, ...]) -> Proof:
    """Watch the service during a few requests: does the strategy do what its name says?"""
    claim, check = CLAIMS[service.name][cell.strategy]
    if service.attached:
        does, evidence = None, "the processes of an attached service cannot be observed"
    else:
        does, evidence = _look(service, cell.strategy, cores, check)
    facts = {each: getattr(cell, each) for each in PROVEN}
    return Proof(**facts, does=does, claim=claim, evidence=evidence)


def merged(proofs: Sequence[Proof]) -> Proof:
    """The proof of several instances, whose claim must hold for each: the first denial, if any."""
    found = next((each for each in proofs if each.does is False), proofs[0])
    if len(proofs) == 1:
        return found
    where = "one" if found.does is False else "each"
    evidence = f"{where} of {len(proofs)} instances: {found.evidence}"
    return found.model_copy(update={"evidence": evidence})


def _look(service: Service, strategy: str, cores: tuple[int, ...], check: Check) -> Verdict:
    """A check that denies is repeated: other load on the machine can hide what a strategy does, but
    no repetition shows what a strategy does not do."""
    try:
        for _ in range(SECOND_LOOKS):
            if (verdict := check(_watch(service, strategy, cores)))[0]:
                return verdict
        return check(_watch(service, strategy, cores))
    except (httpx.HTTPError, EnvironmentProblem) as error:
        return False, f"the service gave no answer to observe: {error}"


def _watch(service: Service, strategy: str, cores: tuple[int, ...]) -> Evidence:
    shape = OTHER_SHAPES.get((service.name, strategy), SHAPES[service.name])
    payload = make_payload(shape, seed=0, element_min=0, element_max=9)
    observed = partial(_observed, service, strategy, payload)
    observed()  # the first request pays for class loading and lazily made pools
    health = service.health()
    in_loop = "/loop" if health.get("handoff") == "loop" else ""
    return Evidence(
        single=[observed() for _ in range(REQUESTS)],
        double=observed(requests=2, at_once=2),
        service=service.name,
        cores=cores,
        shape=shape,
        batches=_batches(service, len(cores)) if strategy == evidence.ADAPTIVE_STRATEGY else None,
        framework=health.get("framework", "") + in_loop,
        processes=health["settings"].get("processes"),
    )


def _batches(service: Service, cores: int) -> Batches:
    large, crowd = evidence.LARGE[service.name], 2 * cores + 1
    small = _batch(service, evidence.SMALL, evidence.SMALL_REQUESTS)
    time.sleep(CONCURRENCY_MEMORY_S)
    return Batches(
        small=small,
        large=[_batch(service, large, 1) for _ in range(REQUESTS)],
        crowd=_batch(service, large, crowd, at_once=crowd),
    )


def _batch(service: Service, shape: Shape, requests: int, at_once: int = 1) -> Batch:
    payload = make_payload(shape, seed=0, element_min=0, element_max=9)
    before = _decisions(service)
    seen = _observed(service, evidence.ADAPTIVE_STRATEGY, payload, requests, at_once)
    chosen = {each: n - before.get(each, 0) for each, n in _decisions(service).items()}
    return Batch(requests=requests, seen=seen, chosen=chosen)


def _decisions(service: Service) -> dict[str, float]:
    """By decision of the adaptive strategy: how often the service has counted it."""
    text = service.get("/metrics").text
    return {decision: float(count) for decision, count in DECISIONS.findall(text)}


def _observed(
    service: Service, strategy: str, payload: Payload, requests: int = 1, at_once: int = 1
) -> Observation:
    """What the kernel saw while `requests` requests were answered, `at_once` at a time."""
    path = path_of(payload.workload, strategy)
    with (
        watched(service.pids(), WORKERS[service.name]) as seen,
        ThreadPoolExecutor(at_once) as clients,
    ):
        for answer in clients.map(lambda n: service.post(path, payload.body(n)), range(requests)):
            answer.raise_for_status()
    return seen
