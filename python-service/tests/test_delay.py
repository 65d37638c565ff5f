"""?delay=MS: never shorter than asked, never too many at once, and over when the service stops."""

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from contract_example import EXAMPLES, body_of, check_error, given
from live_metrics import metric
from live_service import LiveService, running, wait_until
from test_core import GOOD, JSON, PRODUCT, Scripted, assert_nothing_is_left, core_of, post

from restbench_service.codec.delay import asked_ms
from restbench_service.core.delays import Delays
from restbench_service.core.errors import Refused
from restbench_service.core.service import UNKNOWN, Core, Exchange, Head
from restbench_service.frameworks import FRAMEWORKS
from restbench_service.settings import Settings

LONG_MS = 60_000
TIMING = re.compile(r"delay;dur=(\d+\.\d{3}), queue;dur=\d+\.\d{3}, parse;.*")


@pytest.mark.parametrize("asked", [1, 2, 7, 50])
def test_a_wait_is_never_shorter_than_asked(asked: int) -> None:
    delays = Delays(2)
    for _ in range(20):
        begun_ns = time.perf_counter_ns()
        delay = delays.begin(asked)
        delay.wait()
        assert time.perf_counter_ns() - begun_ns >= asked * 1_000_000
        assert delay.end() >= asked
    assert delays.waiting == 0


def test_half_of_the_requests_in_flight_may_wait_until_a_place_is_free() -> None:
    delays = Delays(5)
    first, _ = delays.begin(LONG_MS), delays.begin(LONG_MS)
    assert delays.begin(0).left_s == 0
    with pytest.raises(Refused, match="008"):
        delays.begin(1)
    first.end()
    delays.begin(LONG_MS)
    assert delays.waiting == 2
    assert Delays(1).begin(1).end() > 0


def test_when_the_service_stops_waits_end_and_later_ones_do_not_begin() -> None:
    delays = Delays(4)
    waits = [delays.begin(LONG_MS), delays.begin(LONG_MS)]
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(each.wait) for each in waits]
        delays.stop()
        assert [each.result(30) for each in waiting] == [None, None]
    delays.begin(LONG_MS).wait()
    assert delays.waiting == 0
    assert all(each.end() < LONG_MS for each in waits)


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("", None),
        ("delay=20", 20),
        ("kernel=loops&delay=000020", 20),
        ("%64elay=%32", 2),
        ("delay=0", 0),
        ("delay=1000", 1000),
        ("delay=1001", None),
        ("delay=1&delay=1", None),
        ("delay=", None),
        ("delay=+1", None),
        ("delay=%D9%A1", None),
    ],
)
def test_a_delay_is_one_number_of_ascii_digits_up_to_the_limit(
    query: str, asked: int | None
) -> None:
    assert asked_ms(query, 1000) == asked


def waiting_exchange(core: Core, declared: int = len(GOOD)) -> Exchange:
    exchange = core.open(Head("POST", "/matrix/serial", f"delay={LONG_MS}", JSON, declared))
    assert isinstance(exchange, Exchange)
    exchange.take(GOOD)
    assert exchange.delayed() is not None
    return exchange


@pytest.mark.parametrize("name", given("delay-limit-reached"))
def test_the_examples_at_the_limit_of_waits_are_answered_as_the_contract_says(name: str) -> None:
    core = core_of(Settings(max_in_flight=3, max_delay_millis=LONG_MS))
    exchange = waiting_exchange(core)
    example = EXAMPLES[name]
    reply = post(core, example["request"]["path"], body_of(example))
    assert reply.status == example["status"], reply.body
    if reply.status != 200:
        assert reply.headers["Retry-After"] == "1"
        check_error(example, "", reply.body.decode())
    reply.sent()
    exchange.cut_off().sent()
    assert core.delays.waiting == 0
    assert_nothing_is_left(core)


@pytest.mark.parametrize("declared", [len(GOOD), UNKNOWN])
def test_who_waits_counts_as_in_flight_holds_its_body_and_is_given_to_no_strategy(
    declared: int,
) -> None:
    scripted = Scripted()
    core = core_of(Settings(max_delay_millis=LONG_MS), serial=scripted)
    exchange = waiting_exchange(core, declared)
    assert (core.admission.in_flight, core.budget.held_bytes) == (1, len(GOOD))
    assert b"\nrestbench_requests_delayed 1.0\n" in core.metrics.text()
    assert scripted.given == []
    core.delays.stop()
    answered = exchange.run()
    assert isinstance(answered, Future)
    assert b"\nrestbench_requests_delayed 0.0\n" in core.metrics.text()
    assert len(scripted.given) == 1
    scripted.given[0][1].set_result(b"")
    answered.result().sent()
    assert_nothing_is_left(core)


def test_a_wrong_delay_is_not_waited_for_and_not_computed() -> None:
    core = core_of(Settings(max_delay_millis=0))
    reply = post(core, "/matrix/serial?delay=1", GOOD)
    error = json.loads(reply.body)
    rule = "delay: must be a whole number of milliseconds from 0 to 0"
    assert (error["errorCode"], error["errorMessage"]) == ("003", rule)
    assert post(core, "/matrix/serial?delay=0", GOOD).body == PRODUCT


@pytest.fixture(params=FRAMEWORKS)
def each(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LiveService]:
    """Its sender may be silent for a second."""
    settings = {"RECEIVE_TIMEOUT_SECONDS": "1", "MAX_DELAY_MILLIS": str(LONG_MS)}
    settings |= {"STRATEGIES": "serial,process-per-request", "PROCESSES": "1"}
    with running(tmp_path / "log", FRAMEWORK=request.param, **settings) as service:
        yield service


def test_every_framework_waits_at_least_as_long_as_asked_and_ends_waits_when_it_stops(
    each: LiveService,
) -> None:
    for strategy in ("serial", "process-per-request"):
        begun = time.perf_counter()
        answer = each.request("POST", f"/matrix/{strategy}?delay=2500", GOOD)
        assert time.perf_counter() - begun >= 2.5
        timing = TIMING.fullmatch(answer.headers["Server-Timing"])
        assert answer.body == PRODUCT
        assert timing and float(timing[1]) >= 2500
    assert each.request("POST", "/matrix/serial", GOOD).headers["Server-Timing"][:6] == "queue;"
    with ThreadPoolExecutor(2) as users:
        path = f"/matrix/serial?delay={LONG_MS}"
        waiting = [users.submit(each.request, "POST", path, GOOD) for _ in range(2)]
        wait_until(lambda: metric(each, "restbench_requests_delayed")[""] == 2)
        assert each.request("POST", "/matrix/serial", GOOD).body == PRODUCT
        each.process.terminate()
        for answer in (future.result() for future in waiting):
            timing = TIMING.fullmatch(answer.headers["Server-Timing"])
            assert answer.body == PRODUCT
            assert timing and float(timing[1]) < LONG_MS
    assert each.process.wait(60) == 0
    assert "Traceback" not in each.log.read_text()
