"""How batches go on in memory, under every strategy: who calls when, and what becomes of it."""

from __future__ import annotations

import gc
import random
import threading
import time
import weakref
from typing import Any

import pytest
from calling_in_memory import NAMES, Numbers, fake, ok, plus, started
from waiting import await_true

from restbench_client import strategies
from restbench_client.codec import MatrixJson
from restbench_client.model import (
    Answer,
    Cancelled,
    Done,
    ExchangeFailure,
    Failed,
    Job,
    Kind,
    Limits,
    Retries,
    ServiceRefused,
    Stage,
)
from restbench_client.strategies import STRATEGIES


def seen(outcomes: list[Any]) -> list[tuple[Any, ...]]:
    """What must be the same under each strategy."""
    return [
        (type(each).__name__, each.index, each.attempts, getattr(each, "result", None))
        + ((each.stage, each.kind, str(each.cause)) if isinstance(each, Failed) else ())
        for each in outcomes
    ]


def hard(value: int, _attempt: int) -> Answer:
    """Of a hundred calls one is cut off, one refused, one garbage."""
    if value % 100 == 92:
        raise ExchangeFailure(Kind.CUT_OFF, "closed")
    if value % 100 == 93:
        return Answer(503, {}, b"010")
    return Answer(200, {}, b"garbage") if value % 100 == 95 else ok(value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("calls", [0, 1, 2, 3, 17, 200])
@pytest.mark.parametrize("is_ordered", [False, True])
def test_every_input_has_one_outcome_the_same_as_when_called_in_turn(name, calls, is_ordered):
    draw = random.Random(calls)
    for _ in range(3):
        limits = Limits(draw.randint(1, 70), draw.randint(1, 4), ordered=is_ordered)
        with started(name, range(calls), fake(name, hard), limits, draw.randint(1, 9)) as batch:
            outcomes = list(batch)
        with started("sequential", range(calls), fake("", hard)) as alone:
            expected = alone.all()
        indices = [each.index for each in outcomes]
        assert indices == sorted(indices) or not is_ordered
        assert seen(sorted(outcomes, key=lambda each: each.index)) == seen(expected)
    if calls == 200:
        failed = {(e.index, e.stage, e.kind) for e in outcomes if isinstance(e, Failed)}
        assert failed == {
            (base + number, stage, kind)
            for base in (0, 100)
            for number, stage, kind in (
                (91, Stage.S, Kind.USER),
                (92, Stage.C, Kind.CUT_OFF),
                (93, Stage.D, Kind.REFUSED),
                (94, Stage.P, Kind.USER),
                (95, Stage.D, Kind.MALFORMED),
            )
        }


@pytest.mark.parametrize(
    ("name", "threads", "in_flight", "most"),
    [
        ("sequential", 8, 8, 1),
        ("task-pool", 7, 64, 7),
        ("task-pool", 9, 4, 4),
        ("async", 1, 13, 13),
    ],
)
def test_as_many_calls_are_with_the_service_as_the_strategy_says(name, threads, in_flight, most):
    exchange = fake(name, ok, gather=most, calls=50)
    with started(name, range(50), exchange, Limits(in_flight), threads) as batch:
        assert len(batch.all()) == 50
        assert batch.totals().peak_in_flight == exchange.peak == most


@pytest.mark.parametrize(("name", "bound"), [("sequential", 0), ("task-pool", 4), ("async", 6)])
def test_nothing_is_pulled_beyond_the_bound_when_nobody_takes(name, bound):
    pulled: list[int] = []
    inputs = (pulled.append(n) or n for n in range(10_000))
    with started(name, inputs, fake(name, ok), Limits(6, 3), threads=4) as batch:
        most = bound + 3 if bound else 0
        assert await_true(lambda: len(pulled) == most)
        for taken in range(1, 40):
            assert batch.take() is not None
            assert await_true(lambda taken=taken: len(pulled) == taken + most)
    assert len(pulled) <= 40 + most


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("sequential", []),
        ("task-pool", ["call-pool-1", "call-pool-2", "call-pool-3"]),
        ("async", ["call-cpu-1"]),
    ],
)
def test_threads_are_those_that_the_strategy_names_and_end_with_the_batch(name, names):
    others = set(threading.enumerate())

    def own() -> list[str]:
        return sorted(each.name for each in set(threading.enumerate()) - others)

    with started(name, range(50), fake(name, ok), Limits(4, 2), threads=3) as batch:
        assert own() == names
        assert sum(batch.totals().peak_threads.values()) == len(names)
        assert len(batch.all()) == 50
    assert own() == []


def test_threads_are_counted_and_not_taken_for_granted():
    go = threading.Event()

    def process(*_: int) -> int:
        assert go.wait(30)
        return 0

    with started("task-pool", range(9), fake("", ok), threads=2, process=process) as batch:
        for number in (3, 4):  # one after the other, beside the two that wait
            strategies._begin(batch, "call-pool", number, lambda: None)
            batch.workers[-1].join()
        go.set()
        batch.all()
        assert batch.totals().peak_threads == {"call-pool": 3}


@pytest.mark.parametrize("name", NAMES)
def test_only_what_the_service_refused_has_an_error_code(name):
    class Own(Exception):
        error_code = "004"

    failures = (Own(), ServiceRefused("004", "of P's own"))

    def process(index: int, _given: int, _output: int) -> int:
        raise failures[index]

    def answer(value: int, _attempt: int) -> Answer:
        return ok(value) if value < 2 else Answer(503, {}, b"010")

    with started(name, range(3), fake(name, answer), process=process) as batch:
        found = [(each.stage, each.kind, each.error_code) for each in batch.all()]
    own = Stage.P, Kind.USER, None
    assert found == [own, own, (Stage.D, Kind.REFUSED, "010")]


@pytest.mark.parametrize("name", NAMES)
def test_a_busy_service_is_asked_again_and_other_errors_are_not(name):
    def answer(value: int, attempt: int) -> Answer:
        if value == 1:
            raise ExchangeFailure(Kind.TIMEOUT, "late")
        if value == 2 and attempt < 3:
            raise ExchangeFailure(Kind.CUT_OFF, "closed")
        if attempt < 2:
            return Answer(503, {"retry-after": "0"}, b"008" if value != 3 else b"010")
        return ok(value)

    for retries, attempts in ((Retries.SAFE, (2, 1, 1, 1)), (Retries.IDEMPOTENT, (2, 1, 3, 1))):
        limits = Limits(retries=retries)
        with started(name, range(4), fake(name, answer), limits) as batch:
            outcomes = batch.all()
            assert tuple(each.attempts for each in outcomes) == attempts
            assert isinstance(outcomes[0], Done)
            assert batch.totals().retries == sum(attempts) - 4
    with started(name, range(4), fake(name, answer)) as batch:
        assert {each.attempts for each in batch.all()} == {1}


@pytest.mark.parametrize("name", NAMES)
def test_an_outcome_that_failed_keeps_neither_the_answer_nor_what_its_cause_refers_to(name):
    class Products(Numbers):
        decode = MatrixJson.decode

    bodies = (
        (200, b"garbage"),
        (200, b"[]"),
        (503, b'{"errorCode":"010","errorMessage":"","requestId":null}'),
    )
    answers: list[weakref.ref[Answer]] = []

    def answer(value: int, _attempt: int) -> Answer:
        if value == 3:
            raise ExchangeFailure(Kind.CUT_OFF, "closed") from OSError("closed")
        status, body = bodies[value]
        made = Answer(status, {}, body)
        answers.append(weakref.ref(made))
        return made

    with STRATEGIES[name](2).start(
        range(4), Job(Products(), fake(name, answer), plus), Limits()
    ) as batch:
        outcomes = batch.all()
    gc.collect()
    assert [each.kind for each in outcomes] == [
        Kind.MALFORMED,
        Kind.MALFORMED,
        Kind.REFUSED,
        Kind.CUT_OFF,
    ]
    assert [each() for each in answers] == [None] * 3
    for cause in (each.cause for each in outcomes):
        assert (cause.__traceback__, cause.__cause__, cause.__context__) == (None, None, None)


@pytest.mark.parametrize("name", NAMES)
def test_calls_that_may_be_done_twice_are_repeated_within_a_budget(name):
    def never(_value: int, _attempt: int) -> Answer:
        raise ExchangeFailure(Kind.CUT_OFF, "closed")

    quick = Limits(retries=Retries(3, 10, idempotent=True))
    with started(name, range(35), fake(name, never), quick, threads=30) as batch:
        assert len(batch.all()) == 35
        assert 10 <= batch.totals().retries <= 35 // 10 + 10


def test_waits_double_and_keep_to_what_the_service_asks_for():
    draw = random.Random(1)
    cut = ExchangeFailure(Kind.CUT_OFF, "")
    waits = [Retries.IDEMPOTENT.wait_s(cut, made, None, draw) for made in (1, 2)]
    assert 0.025 <= waits[0] <= 0.075
    assert 0.05 <= waits[1] <= 0.15
    busy = ServiceRefused("008", "")
    assert Retries.SAFE.wait_s(busy, 1, "9", draw) == 5
    assert Retries.SAFE.wait_s(busy, 10, "9", draw) is None


@pytest.mark.parametrize(
    "wrong", [{"in_flight": 0}, {"queue": 100_001}, {"per_call_s": float("nan")}, {"whole_s": 0}]
)
def test_a_bound_out_of_its_range_is_named(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: must be"):
        Limits(**wrong)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_done_with_an_answer_needs_no_lock(name):
    within = peak = 0

    def process(_index: int, _given: int, output: int) -> int:
        nonlocal within, peak
        within += 1
        peak = max(peak, within)
        time.sleep(0.001)
        within -= 1
        return output

    with started(name, range(40), fake(name, ok), threads=8, process=process) as batch:
        assert len(batch.all()) == 40
    assert peak == 1


def test_a_call_that_waits_to_be_sent_again_has_no_place_in_flight():
    def answer(value: int, _attempt: int) -> Answer:
        return ok(value) if value else Answer(503, {"retry-after": "5"}, b"008")

    limits = Limits(in_flight=1, retries=Retries.SAFE)
    with started("async", range(10), fake("async", answer), limits) as batch:
        assert sorted(batch.take().index for _ in range(9)) == [*range(1, 10)]
        batch.cancel()
        assert isinstance(batch.take(), Cancelled)


@pytest.mark.parametrize("name", NAMES)
def test_cpu_time_is_that_of_the_stage_that_took_it(name):
    class Hard(Numbers):
        def encode(self, given: int) -> bytes:
            sum(range(300_000))
            return super().encode(given)

    job = Job(Hard(), fake(name, ok), plus)
    with STRATEGIES[name](4).start(range(8), job, Limits()) as batch:
        assert len(batch.all()) == 8
        cpu_s = batch.totals().cpu_s
    assert cpu_s[Stage.S] > 10 * max(cpu_s[stage] for stage in "CDP")
    assert (cpu_s[Stage.C] == 0) == (name == "async")
