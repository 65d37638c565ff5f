"""The claim of the strategy that chooses, over what it counted and the kernel saw."""

from __future__ import annotations

from observations import MS, observation

from restbench.decisions import Batch, Batches
from restbench.proof import CLAIMS, SHAPES
from restbench.seen import Seen


def batch(requests: int, chosen: dict[str, float], *threads: tuple[int, int, str, int]) -> Batch:
    return Batch(requests=requests, seen=observation(*threads), chosen=chosen)


HTTP, LONG_1, LONG_2 = "http-ni..exec-1", "adapt-long-1", "adapt-long-2"
SMALL = batch(
    20,
    {"caller": 20, "blocks": 0},
    (1, 2, HTTP, 9),
    (1, 5, "http-ni..exec-2", 7),
    (1, 3, LONG_1, 0),
)
LARGE = batch(1, {"low-priority-thread": 1}, (1, 2, HTTP, 9), (1, 3, LONG_1, 91))
CUT = batch(
    1,
    {"low-priority-thread": 1, "blocks": 1},
    (1, 2, HTTP, 9),
    (1, 3, LONG_1, 50),
    (1, 4, LONG_2, 41),
)


HELPED = batch(1, {"caller": 1, "blocks": 1}, (1, 2, HTTP, 50), (1, 3, LONG_1, 41))
CROWD = batch(
    5,
    {"caller": 2, "low-priority-thread": 3},
    (1, 2, HTTP, 20),
    (1, 5, "http-ni..exec-2", 20),
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


def test_adaptive_keeps_small_requests_with_their_caller_and_a_large_one_leaves_or_is_helped() -> (
    None
):
    assert adaptive("java", SMALL, LARGE, CUT, HELPED)
    in_turn = batch(1, {"in-turn": 1}, (1, 2, HTTP, 9), (1, 3, "adapt-turn-1", 91))
    assert adaptive("java", SMALL, in_turn)
    stays = batch(1, {"caller": 1}, (1, 2, HTTP, 100))
    assert not adaptive("java", SMALL, LARGE, stays)
    assert adaptive("java", SMALL, LARGE, stays, cores=1), "nobody there to help"
    assert not adaptive("java", LARGE, LARGE)


def test_adaptive_s_helpers_are_seen_at_work() -> None:
    said = batch(1, {"caller": 1, "blocks": 1}, (1, 2, HTTP, 91), (1, 3, LONG_1, 1))
    others = batch(1, {"caller": 1, "blocks": 1}, (1, 2, HTTP, 50), (1, 5, "adapt-turn-1", 41))
    for wrong in (said, others):
        assert not adaptive("java", SMALL, wrong)


def test_of_a_crowd_those_that_are_to_give_way_are_seen_where_they_do() -> None:
    pretended = batch(
        5, {"caller": 2, "low-priority-thread": 3}, (1, 2, HTTP, 90), (1, 3, LONG_1, 9)
    )
    assert not adaptive("java", SMALL, LARGE, crowd=pretended)
    none_does = batch(5, {"caller": 5, "blocks": 5}, (1, 2, HTTP, 90))
    assert not adaptive("java", SMALL, LARGE, crowd=none_does)
    uncounted = batch(5, {"low-priority-thread": 3}, (1, 2, HTTP, 40), (1, 3, LONG_1, 60))
    assert not adaptive("java", SMALL, LARGE, crowd=uncounted)


def test_adaptive_is_believed_only_where_the_kernel_saw_what_it_counted() -> None:
    pretended = batch(1, {"low-priority-thread": 1}, (1, 2, HTTP, 90), (1, 3, LONG_1, 10))
    secretly_cut = batch(1, {"low-priority-thread": 1, "blocks": 0}, *cpu_of(CUT))
    uncounted = batch(1, {}, (1, 3, LONG_1, 91))
    handed_on = batch(20, {"caller": 20}, (1, 2, HTTP, 3), (1, 3, LONG_1, 9))
    for wrong in (pretended, secretly_cut, uncounted):
        assert not adaptive("java", SMALL, wrong)
    assert not adaptive("java", handed_on, LARGE)


def cpu_of(of: Batch) -> list[tuple[int, int, str, int]]:
    return [(t.pid, t.tid, t.name, t.cpu_ns // MS) for t in of.seen.tasks.values()]


def test_python_s_adaptive_computes_large_requests_in_a_process() -> None:
    small = batch(20, {"caller": 20}, (1, 1, "python", 9), (8, 8, "restbench-PR-0", 0))
    crowd = batch(5, {"low-priority-process": 5}, (1, 1, "python", 9), (8, 8, "restbench-PR-0", 91))
    for place in ("process", "low-priority-process"):
        large = batch(1, {place: 1}, (1, 1, "python", 9), (8, 8, "restbench-PR-0", 91))
        assert adaptive("python", small, large, crowd=crowd)
        in_parent = batch(1, {place: 1}, (1, 1, "python", 91), (8, 8, "restbench-PR-0", 9))
        assert not adaptive("python", small, in_parent, crowd=crowd)
        found_late = batch(5, {"low-priority-process": 4, "process": 1}, *cpu_of(crowd))
        assert adaptive("python", small, large, crowd=found_late)
        stayed = batch(5, {"low-priority-process": 4, "caller": 1}, *cpu_of(crowd))
        assert not adaptive("python", small, large, crowd=stayed)
