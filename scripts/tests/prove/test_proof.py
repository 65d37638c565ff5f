"""The claims, over observations in which a technique is what it says, and in which it is not; and
that a run has one proof of it, however often it was looked at."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from unittest.mock import Mock

import httpx
import pytest
from fixture_run import cell
from observations import observation
from waiting import await_true

from restbench.deploy.service import Service
from restbench.experiment.cell import STRATEGIES, Shape
from restbench.experiment.records import Proof
from restbench.failures import EnvironmentProblem
from restbench.observe.evidence import Batch, Batches, Evidence
from restbench.observe.observe import Observation, watched
from restbench.prove import proof as proving
from restbench.prove.proof import CLAIMS, DECISIONS, OTHER_SHAPES, SHAPES
from restbench.store.store import Run


def seen_of(
    service: str,
    *observations: Observation,
    double: Observation | None = None,
    shape: Shape | None = None,
    framework: str = "",
) -> Evidence:
    return Evidence(
        framework=framework,
        single=list(observations),
        double=double or observations[0],
        service=service,
        cores=(0, 1),
        shape=shape or SHAPES[service],
    )


def does(service: str, strategy: str, seen: Evidence) -> bool:
    return CLAIMS[service][strategy][1](seen)[0]


def pool(tids: range, peak: int) -> Observation:
    threads = [(1, tid, f"thread-pool-{tid}", 5) for tid in tids]
    request = (1, 2, "http-ni..exec-1", 5)
    return observation(request, *threads, peak={"thread-pool": peak}, ended_ms=90)


def test_there_is_a_claim_for_every_strategy_of_both_services() -> None:
    assert {name: set(claims) for name, claims in CLAIMS.items()} == {
        name: set(strategies) for name, strategies in STRATEGIES.items()
    }


@pytest.mark.parametrize(
    "error", [EnvironmentProblem("connection refused"), httpx.ConnectError("connection refused")]
)
def test_a_service_that_dies_between_two_requests_is_not_proven(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    service = cast(
        Service, SimpleNamespace(name="java", attached=False, health=Mock(side_effect=error))
    )
    monkeypatch.setattr(proving, "_observed", Mock())
    found = proving.prove(service, cell("java serial low 10"), (0,))
    assert (found.does, found.evidence) == (
        False,
        "the service gave no answer to observe: connection refused",
    )


def test_serial_is_one_request_thread() -> None:
    alone = observation((1, 2, "http-ni..exec-1", 20), (1, 3, "C2 CompilerThre", 90))
    two = observation((1, 2, "http-ni..exec-1", 20), (1, 3, "http-ni..exec-2", 20))
    handed_on = observation((1, 2, "http-ni..exec-1", 2), (1, 3, "shared-0", 20))
    assert does("java", "serial", seen_of("java", alone))
    assert not does("java", "serial", seen_of("java", alone, two))
    assert not does("java", "serial", seen_of("java", handed_on))


@pytest.mark.parametrize(
    ("framework", "thread", "other"),
    [("helidon", "ForkJoinPool-1-", "jetty"), ("vertx/loop", "vert.x-eventloo", "vertx")],
    ids=["a virtual thread's carrier", "the event loop"],
)
def test_the_requests_own_thread_is_that_of_its_framework(
    framework: str, thread: str, other: str
) -> None:
    alone = observation((1, 2, thread, 20))
    handed_on = observation((1, 2, thread, 2), (1, 3, "shared-0", 20))
    assert does("java", "serial", seen_of("java", alone, framework=framework))
    assert not does("java", "serial", seen_of("java", handed_on, framework=framework))
    assert not does("java", "serial", seen_of("java", alone, framework=other))


def test_a_thread_pool_is_several_new_threads_in_each_request() -> None:
    good = seen_of("java", pool(range(10, 50), 40), pool(range(60, 99), 39))
    one_at_a_time = seen_of("java", pool(range(10, 50), 1), pool(range(60, 99), 1))
    kept = seen_of("java", pool(range(10, 50), 40), pool(range(10, 50), 40))
    assert does("java", "thread-pool", good)
    assert not does("java", "thread-pool", one_at_a_time)
    assert not does("java", "thread-pool", kept)


def test_a_thread_pool_whose_request_thread_does_the_work_is_none() -> None:
    idle = [(1, tid, f"thread-pool-{tid}", 0) for tid in range(10, 50)]
    request = (1, 2, "http-ni..exec-1", 90)
    seen = observation(request, *idle, peak={"thread-pool": 40}, ended_ms=10)
    assert not does("java", "thread-pool", seen_of("java", seen))


def test_pinned_is_a_worker_with_one_core_in_the_kernel_s_own_mask() -> None:
    threads = ((1, 2, "http-ni..exec-1", 1), (1, 3, "pinned-0", 20))
    assert does("java", "pinned", seen_of("java", observation(*threads, cores="1")))
    assert not does("java", "pinned", seen_of("java", observation(*threads, cores="0-1")))
    assert not does("java", "pinned", seen_of("java", observation(*threads, cores="7")))


def test_a_pipeline_has_a_thread_a_stage() -> None:
    stages = [(1, 3, "pipe-parse", 9), (1, 4, "pipe-compute", 9), (1, 5, "pipe-serialize", 2)]
    assert does("java", "pipeline", seen_of("java", observation(*stages)))
    assert not does("java", "pipeline", seen_of("java", observation(*stages[:2])))


def test_thread_per_element_never_has_two_alive() -> None:
    shape = OTHER_SHAPES["java", "thread-per-element"]
    elements = shape.rows * shape.columns
    thread = (1, 10, "element-1", 1)
    good = observation(thread, alive={"element": 11}, looks=10, made=elements)
    together = observation(thread, alive={"element": 20}, looks=10, made=elements)
    a_row_each = observation(thread, alive={"element": 10}, looks=10, made=shape.rows)
    assert does("java", "thread-per-element", seen_of("java", good, shape=shape))
    assert not does("java", "thread-per-element", seen_of("java", together, shape=shape))
    assert not does("java", "thread-per-element", seen_of("java", a_row_each, shape=shape))


@pytest.mark.parametrize("strategy", ["shared-pool", "fork-join"])
def test_a_pool_of_the_service_is_the_same_threads_all_at_work(strategy: str) -> None:
    good = observation((1, 3, f"{strategy}-1", 10), (1, 4, f"{strategy}-2", 9))
    idle = observation((1, 3, f"{strategy}-1", 20), (1, 4, f"{strategy}-2", 0))
    others = observation((1, 3, "ForkJoinPool-1-", 10), (1, 4, "ForkJoinPool-1-", 9))
    assert does("java", strategy, seen_of("java", good, good))
    assert not does("java", strategy, seen_of("java", idle, idle))
    assert not does("java", strategy, seen_of("java", others, others))


@pytest.mark.parametrize(
    ("strategy", "pool"), [("process-per-element", "PE"), ("executor-per-element", "EE")]
)
def test_per_element_is_a_message_an_element_to_every_pool_process(
    strategy: str, pool: str
) -> None:
    elements = SHAPES["python"].rows * SHAPES["python"].columns
    threads = [(1, 1, "gunicorn", 50), (8, 8, f"{pool}-1", 9), (9, 9, f"{pool}-2", 9)]
    good = observation(*threads, reads={8: elements, 9: elements})
    batched = observation(*threads, reads={8: 3, 9: 3})
    parent_only = observation(*threads[:2], (9, 9, f"{pool}-2", 0), reads={8: elements, 9: 0})
    assert does("python", strategy, seen_of("python", good))
    assert not does("python", strategy, seen_of("python", batched))
    assert not does("python", strategy, seen_of("python", parent_only))


@pytest.mark.parametrize(
    ("strategy", "pool"), [("process-per-request", "PR"), ("executor-per-request", "ER")]
)
def test_per_request_is_one_process_a_request_and_two_for_two(strategy: str, pool: str) -> None:
    web = (1, 1, "gunicorn", 2)
    one = observation(web, (8, 8, f"{pool}-1", 50), (9, 9, f"{pool}-2", 0))
    two = observation(web, (8, 8, f"{pool}-1", 50), (9, 9, f"{pool}-2", 40))
    in_parent = observation((1, 1, "gunicorn", 90), (8, 8, f"{pool}-1", 1))
    assert does("python", strategy, seen_of("python", one, double=two))
    assert not does("python", strategy, seen_of("python", one, double=one))
    assert not does("python", strategy, seen_of("python", two, double=two))
    assert not does("python", strategy, seen_of("python", in_parent, double=two))


def test_a_pool_is_as_large_as_its_service_says() -> None:
    """An instance among several has its part of the processes, on all cores."""
    one = observation((1, 1, "gunicorn", 2), (8, 8, "PR-1", 50))
    seen = seen_of("python", one, double=one)
    assert not does("python", "process-per-request", seen)
    assert does("python", "process-per-request", replace(seen, processes=1))


def test_python_serial_hands_nothing_to_a_pool() -> None:
    alone = observation((1, 1, "gunicorn", 50), (8, 8, "PR-1", 0))
    assert does("python", "serial", seen_of("python", alone))
    for pool in ("PE", "PR", "EE", "ER", "F1"):
        handed = observation((1, 1, "gunicorn", 50), (8, 8, f"{pool}-1", 50))
        assert not does("python", "serial", seen_of("python", handed))
    nothing = observation((1, 1, "somebody", 50))
    assert not does("python", "serial", seen_of("python", nothing)), "by whom is not known"


def test_the_decisions_of_a_strategy_are_read_whatever_the_order_of_labels() -> None:
    java = 'restbench_decisions_total{decision="caller",strategy="adaptive"} 3.0'
    python = 'restbench_decisions_total{strategy="adaptive",decision="low-priority"} 4.0'
    assert DECISIONS.findall(f"# HELP x\n{java}\n{python}\n") == [
        ("caller", "3.0"),
        ("low-priority", "4.0"),
    ]


def test_the_watch_sees_threads_of_a_real_process_that_come_and_go() -> None:
    released = threading.Event()
    name = threading.main_thread().native_id
    with watched((os.getpid(),), ("",)) as seen:
        workers = [threading.Thread(target=released.wait) for _ in range(3)]
        for worker in workers:
            worker.start()
        await_true(lambda: seen.peak[""] >= 4)
        released.set()
        for worker in workers:
            worker.join()
    assert name in seen.tasks
    assert seen.peak[""] >= 4


def proof(*, does: bool | None, strategy: str = "serial") -> Proof:
    looked = {"strategy": strategy, "placement": "unbound", "claim": "", "evidence": ""}
    return Proof(service="java", does=does, **looked)


@pytest.mark.parametrize(
    ("looks", "kept"),
    [
        ([True, True], [True]),
        ([True, False], [False]),
        ([False, True], [False]),
        ([None, True], [True]),
    ],
)
def test_of_several_looks_the_one_that_denies_it_is_kept(
    tmp_path: Path, looks: list[bool | None], kept: list[bool]
) -> None:
    run = Run(tmp_path)
    for does in looks:
        run.keep_proof(proof(does=does))
    assert [each.does for each in run.proofs()] == kept


def test_every_strategy_has_its_own(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for strategy in ("serial", "pinned", "serial"):
        run.keep_proof(proof(does=True, strategy=strategy))
    assert [each.strategy for each in run.proofs()] == ["serial", "pinned"]


# --- the strategy that chooses: what it counted, and what the kernel saw -------------------------


def batch(requests: int, chosen: dict[str, float], *threads: tuple[int, int, str, int]) -> Batch:
    return Batch(requests=requests, seen=observation(*threads), chosen=chosen)


HTTP, LONG_1, LONG_2 = "http-ni..exec-1", "adapt-long-1", "adapt-long-2"
SMALL = batch(20, {"caller": 20}, (1, 2, HTTP, 9), (1, 5, "http-ni..exec-2", 7), (1, 3, LONG_1, 0))
LARGE = batch(1, {"low-priority": 1}, (1, 2, HTTP, 9), (1, 3, LONG_1, 91))
CUT = batch(1, {"shared-pool": 1}, (1, 2, HTTP, 9), (1, 3, "shared-1", 50), (1, 4, "shared-2", 41))
CROWD = batch(
    5,
    {"caller": 1, "shared-pool": 1, "low-priority": 3},
    (1, 2, HTTP, 20),
    (1, 5, "shared-1", 20),
    (1, 3, LONG_1, 30),
    (1, 4, LONG_2, 30),
)


def adaptive(service: str, *batches: Batch, crowd: Batch = CROWD, cores: int = 2) -> bool:
    small, *large = batches
    seen = Evidence(
        single=[],
        double=observation(),
        service=service,
        cores=tuple(range(cores)),
        shape=SHAPES[service],
        batches=Batches(small, large, crowd),
    )
    return CLAIMS[service]["adaptive"][1](seen)[0]


def test_adaptive_keeps_small_requests_with_their_caller_and_a_large_one_leaves_it() -> None:
    assert adaptive("java", SMALL, LARGE, CUT)
    stays = batch(1, {"caller": 1}, (1, 2, HTTP, 100))
    assert not adaptive("java", SMALL, LARGE, stays)
    assert adaptive("java", SMALL, LARGE, stays, cores=1), "nobody there to help"
    assert not adaptive("java", LARGE, LARGE)


def test_the_threads_of_the_shared_pool_are_all_seen_at_work() -> None:
    one_alone = batch(1, {"shared-pool": 1}, (1, 2, HTTP, 9), (1, 3, "shared-1", 91))
    others = batch(1, {"shared-pool": 1}, (1, 3, "fork-join-1", 50), (1, 5, "fork-join-2", 41))
    for wrong in (one_alone, others):
        assert not adaptive("java", SMALL, wrong)


def test_of_a_crowd_those_that_are_to_give_way_are_seen_where_they_do() -> None:
    pretended = batch(5, {"caller": 2, "low-priority": 3}, (1, 2, HTTP, 90), (1, 3, LONG_1, 9))
    assert not adaptive("java", SMALL, LARGE, crowd=pretended)
    none_does = batch(5, {"caller": 5}, (1, 2, HTTP, 90))
    assert not adaptive("java", SMALL, LARGE, crowd=none_does)
    uncounted = batch(5, {"low-priority": 3}, (1, 2, HTTP, 40), (1, 3, LONG_1, 60))
    assert not adaptive("java", SMALL, LARGE, crowd=uncounted)


def test_adaptive_is_believed_only_where_the_kernel_saw_what_it_counted() -> None:
    pretended = batch(1, {"low-priority": 1}, (1, 2, HTTP, 90), (1, 3, LONG_1, 10))
    secretly_cut = batch(1, {"low-priority": 1}, (1, 3, LONG_1, 50), (1, 4, LONG_2, 50))
    uncounted = batch(1, {}, (1, 3, LONG_1, 91))
    handed_on = batch(20, {"caller": 20}, (1, 2, HTTP, 3), (1, 3, LONG_1, 9))
    for wrong in (pretended, secretly_cut, uncounted):
        assert not adaptive("java", SMALL, wrong)
    assert not adaptive("java", handed_on, LARGE)


@pytest.mark.parametrize(("place", "pool"), [("process", "PR-1"), ("low-priority", "F1-1")])
def test_python_s_adaptive_computes_large_requests_in_a_process(place: str, pool: str) -> None:
    small = batch(20, {"caller": 20}, (1, 1, "python", 9), (8, 8, pool, 0))
    large = batch(1, {place: 1}, (1, 1, "python", 9), (8, 8, pool, 91))
    crowd = batch(5, {place: 5}, (1, 1, "python", 9), (8, 8, pool, 91))
    assert adaptive("python", small, large, crowd=crowd)
    in_parent = batch(1, {place: 1}, (1, 1, "python", 91), (8, 8, pool, 9))
    assert not adaptive("python", small, in_parent, crowd=crowd)
    one_stayed = batch(5, {place: 4, "caller": 1}, (1, 1, "python", 20), (8, 8, pool, 80))
    assert adaptive("python", small, large, crowd=one_stayed)
