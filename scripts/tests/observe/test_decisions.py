"""The claim of the strategy that chooses, over what it counted and the kernel saw."""

from __future__ import annotations

import pytest
from observations import observation

from restbench.observe.decisions import Batch, Batches
from restbench.observe.seen import Seen
from restbench.prove.proof import CLAIMS, SHAPES


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
    seen = Seen(
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
