"""?delay=MS: never shorter than asked, never too many at once, and over when the service stops."""

import json
import re
import signal as signals
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from contract_example import EXAMPLES, body_of, check_error, given
from live_metrics import in_flight, metric
from live_service import (
    DEADLINE_SECONDS,
    LiveService,
    everyone_below,
    side_by_side,
    state_of,
    wait_until,
)
from raw_client import answer_of, connected, is_answered, post_head
from test_core import GOOD, PRODUCT, Scripted, assert_nothing_is_left, core_of, opened, post
from test_frameworks import LONG, SEES_CONNECTIONS, computing

from restbench_service.core.delays import Delays
from restbench_service.core.reply import RequestRefused
from restbench_service.core.service import UNKNOWN, Core, Exchange
from restbench_service.frameworks import FRAMEWORKS
from restbench_service.settings import Settings

LONG_MS = 60_000
TIMING = re.compile(r"delay;dur=(\d+\.\d{3}), queue;dur=\d+\.\d{3}, parse;.*")
DURATION = re.compile(r"dur=(\d+\.\d{3})")


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
    with pytest.raises(RequestRefused, match="008"):
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


def waiting_exchange(core: Core, declared: int = len(GOOD)) -> Exchange:
    exchange = opened(core, declared, f"/matrix/serial?delay={LONG_MS}")
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


@pytest.mark.parametrize(
    ("body", "code"), [(b"{", "002"), (b"{}", "003"), (GOOD.replace(b'"2"', b'"x"'), "005")]
)
def test_what_a_body_has_wrong_is_said_after_the_wait(body: bytes, code: str) -> None:
    core = core_of(Settings(max_delay_millis=LONG_MS))
    exchange = opened(core, len(body), f"/matrix/serial?delay={LONG_MS}")
    exchange.take(body)
    delay = exchange.delayed()
    assert delay is not None and delay.left_s > 0
    core.delays.stop()
    answered = exchange.answer()
    assert json.loads(answered.body)["errorCode"] == code
    answered.sent()
    assert_nothing_is_left(core)


def test_no_stage_has_the_delay_once_more() -> None:
    core = core_of(Settings(max_delay_millis=LONG_MS))
    begun_ns = time.perf_counter_ns()
    exchange = opened(core, path="/matrix/serial?delay=50")
    exchange.take(GOOD)
    delay = exchange.delayed()
    assert delay is not None
    delay.wait()
    answered = exchange.answer()
    spent_ms = (time.perf_counter_ns() - begun_ns) / 1e6
    times_ms = [float(each) for each in DURATION.findall(answered.headers["Server-Timing"])]
    assert times_ms[0] >= 50
    assert sum(times_ms) <= spent_ms + 0.001 * len(times_ms)


def test_a_wrong_delay_is_not_waited_for_and_not_computed() -> None:
    core = core_of(Settings(max_delay_millis=0))
    reply = post(core, "/matrix/serial?delay=1", GOOD)
    error = json.loads(reply.body)
    rule = "delay: must be a whole number of milliseconds from 0 to 0"
    assert (error["errorCode"], error["errorMessage"]) == ("003", rule)
    assert post(core, "/matrix/serial?delay=000000", GOOD).body == PRODUCT


def delayed_ms(service: LiveService, strategy: str, asked_ms: int) -> float:
    """As the answer to a request that asked for a delay says."""
    answer = service.request("POST", f"/matrix/{strategy}?delay={asked_ms}", GOOD)
    timing = TIMING.fullmatch(answer.headers["Server-Timing"])
    assert answer.body == PRODUCT
    assert timing
    return float(timing[1])


def check_delays(service: LiveService) -> None:
    """Of more than a sender may be silent."""
    begun = time.perf_counter()
    with ThreadPoolExecutor(2) as users:
        strategies = ("serial", "process-per-request")
        found = users.map(lambda strategy: delayed_ms(service, strategy, 3500), strategies)
        assert min(found) >= 3500
    assert time.perf_counter() - begun >= 3.5
    answer = service.request("POST", "/matrix/serial", GOOD)
    assert answer.headers["Server-Timing"].startswith("queue;")


def check_stop(service: LiveService) -> None:
    """By Ctrl-C, and other signals after it do no harm; TERM alone is a probe of the contract."""
    processes = everyone_below(service.process.pid)
    with ExitStack() as stack:
        users = stack.enter_context(ThreadPoolExecutor(2))
        delayed = [
            users.submit(delayed_ms, service, "process-per-request", LONG_MS) for _ in range(2)
        ]
        wait_until(lambda: metric(service, "restbench_requests_delayed")[""] == 2)
        computed = stack.enter_context(connected(service.port))
        computing(service, computed, LONG, waiting=2)
        silent = None
        if service.log.name in SEES_CONNECTIONS:
            silent = stack.enter_context(connected(service.port))
            silent.sendall(post_head(1000) + b"{")
            # On a busy machine what is computed may be over by now, and who is silent too.
            wait_until(
                lambda: in_flight(service) + is_answered(computed) == 4 or is_answered(silent)
            )
        service.process.send_signal(signals.SIGINT)
        service.process.terminate()
        assert max(each.result() for each in delayed) < LONG_MS
        service.process.send_signal(signals.SIGINT)
        assert answer_of(computed).body == LONG[1]
        if silent is not None:
            cut_off = answer_of(silent)
            assert cut_off.status == 400 and b"the body was cut off" in cut_off.body
        assert service.process.wait(DEADLINE_SECONDS) == 0
    wait_until(lambda: {state_of(pid) for pid in processes} <= {"X"})
    assert "Traceback" not in service.log.read_text()


def test_every_framework_delays_as_long_as_asked_and_answers_what_it_has_when_told_to_stop(
    tmp_path: Path,
) -> None:
    """What is delayed, what is computed, and a sender who has fallen silent. All frameworks at
    once, as they mostly wait."""
    settings = {"STRATEGIES": "serial,process-per-request", "PROCESSES": "1"}
    settings |= {"MAX_DELAY_MILLIS": str(LONG_MS), "RECEIVE_TIMEOUT_SECONDS": "3"}
    # A busy machine may take longer over the request than a stop may last by default.
    settings |= {"STOP_TIMEOUT_SECONDS": "300"}
    wanted = {tmp_path / name: {"FRAMEWORK": name, **settings} for name in FRAMEWORKS}
    with side_by_side(wanted) as services, ThreadPoolExecutor(len(services)) as threads:
        for check in (check_delays, check_stop):
            list(threads.map(check, services))
