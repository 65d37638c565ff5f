"""The technique that chooses does what it says: who ran what, at which priority."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from live_service import pool, wait_until
from observed import NICE, Held, Observed

from restbench_service.codec.matrix import MatrixJson
from restbench_service.execution import adaptive as module
from restbench_service.execution.adaptive import (
    LONG_NS,
    MOST_DECODED_HERE_BYTES,
    NICENESS,
    Adaptive,
)
from restbench_service.execution.job import Job
from restbench_service.execution.strategy import Strategy
from restbench_service.execution.techniques import PerRequest
from restbench_service.workloads.matrix import MatrixWorkload

OURS = {os.getpid()}
OPERATION, BYTE = ("operation of", "observed"), ("byte of", "observed", "")
SMALL, MIDDLING, LONG = 1, 20, 500
"""Units of NS_PER_OPERATION: less than a dispatch, more than two, too long."""
NS_PER_OPERATION = 100_000.0


@pytest.fixture
def adaptive(strategies: dict[str, Strategy]) -> Adaptive:
    """One that has learnt nothing yet, with the pools of the session."""
    others = strategies["adaptive"]
    assert isinstance(others, Adaptive)
    low_priority = others._places["low-priority"]
    assert isinstance(low_priority, PerRequest)
    strategy = Adaptive(others._pool, low_priority._pool, None)
    strategy._dispatch_ns = 200_000.0
    strategy._ns_per[OPERATION] = NS_PER_OPERATION
    return strategy


def run(strategy: Adaptive, units: int) -> dict[str, Any]:
    strategy._ns_per[OPERATION] = NS_PER_OPERATION
    return Observed().run(strategy, units)


def column(answer: dict[str, Any], number: int) -> set[int]:
    return {record[number] for record in answer["records"]}


def in_company(strategy: Adaptive) -> None:
    """Of a request that is not answered for the rest of the test."""
    strategy._present += 1


def test_a_request_alone_that_is_not_long_stays_on_its_thread(adaptive: Adaptive) -> None:
    answer = run(adaptive, MIDDLING)
    assert {answer["parse"], answer["compute"], answer["serialize"]} == OURS
    assert adaptive.decisions() == {"caller": 1, "process": 0, "low-priority": 0}


def test_what_is_worth_a_dispatch_goes_to_a_process_when_others_are_in_flight(
    adaptive: Adaptive,
) -> None:
    in_company(adaptive)
    answer = run(adaptive, MIDDLING)
    assert answer["parse"] in OURS
    assert {answer["compute"], answer["serialize"]} < set(pool("PR-").values())
    assert column(answer, NICE) == {os.nice(0)}


def test_a_small_request_stays_on_its_thread_though_others_are_in_flight(
    adaptive: Adaptive,
) -> None:
    in_company(adaptive)
    assert run(adaptive, SMALL)["compute"] in OURS
    assert adaptive.decisions()["caller"] == 1


def test_what_is_not_worth_sending_its_body_stays_on_its_thread(
    adaptive: Adaptive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work takes two milliseconds, the dispatch of each of its bytes one."""
    monkeypatch.setattr(module, "SENT_BYTE_NS", 1_000_000.0)
    in_company(adaptive)
    assert run(adaptive, MIDDLING)["compute"] in OURS


def test_short_bodies_are_decoded_one_at_a_time(
    adaptive: Adaptive, users: ThreadPoolExecutor, signal: Path
) -> None:
    """Threads that decode at once wait for the interpreter, and all are answered later."""
    users.submit(Held(until=str(signal)).run, adaptive, SMALL)
    wait_until(lambda: adaptive.decisions()["caller"] == 1)
    later = users.submit(run, adaptive, SMALL)
    wait_until(lambda: adaptive._present == 2)
    assert adaptive.decisions()["caller"] == 1, "its turn has not come"
    signal.touch()
    later.result(60)
    assert adaptive._present == 0


def test_a_long_request_goes_to_a_process_of_low_priority_though_it_is_alone(
    adaptive: Adaptive,
) -> None:
    answer = run(adaptive, LONG)
    assert answer["parse"] in OURS
    assert {answer["compute"]} < set(pool("F1-").values())
    assert column(answer, NICE) == {min(19, os.nice(0) + NICENESS)}
    assert adaptive.decisions()["low-priority"] == 1


def test_a_long_body_is_not_decoded_on_its_thread(adaptive: Adaptive) -> None:
    workload = Observed()
    body = b" " * MOST_DECODED_HERE_BYTES + b"3"
    answer = adaptive.execute(Job(workload, workload, body)).result().decode()
    assert f'"parse": {os.getpid()}' not in answer
    assert adaptive.decisions()["low-priority"] == 1, "nothing is known of it yet"


def test_what_a_body_costs_is_learnt_from_those_before(adaptive: Adaptive) -> None:
    """From the first, where nothing took its core away meanwhile: then it seemed to cost more."""
    workload = Observed()
    body = b" " * MOST_DECODED_HERE_BYTES + b"3"
    sent = 0
    while not adaptive.decisions()["caller"] and sent < 30:
        adaptive.execute(Job(workload, workload, body)).result()
        sent += 1
    assert adaptive._ns_per[BYTE] * len(body) < LONG_NS
    assert adaptive.decisions() == {"caller": 1, "process": 0, "low-priority": sent - 1}
    assert sent > 1


def test_an_unknown_kind_is_taken_for_long_where_it_may_be(adaptive: Adaptive) -> None:
    adaptive._ns_per.clear()
    Observed().run(adaptive, int(2 * LONG_NS / module.UNKNOWN_NS_PER_OPERATION))
    assert adaptive.decisions()["low-priority"] == 1


def test_the_estimate_follows_what_requests_take(adaptive: Adaptive) -> None:
    workload = Observed(unit_seconds=0.02)
    adaptive._ns_per.clear()
    adaptive.execute(workload.job(1)).result()
    assert adaptive._ns_per[OPERATION] >= 20_000_000
    assert adaptive.execute(workload.job(1)).result()
    assert adaptive.decisions() == {"caller": 1, "process": 0, "low-priority": 1}


def test_of_a_query_only_the_kernel_makes_a_kind(adaptive: Adaptive) -> None:
    """A delay is no work, and /health, which shows the kinds, shows no text of a client."""
    codec, row = MatrixJson(1), {"value": "1" + " " * MOST_DECODED_HERE_BYTES}
    matrix = {"columnCount": 1, "rows": [row]}
    body = json.dumps({"requestId": 1, "matrixOne": matrix, "matrixTwo": matrix}).encode()
    for query in ("", "kernel=loops&delay=0", "kernel=native&delay=0", "kernel=native&secret"):
        adaptive.execute(Job(MatrixWorkload(), codec, body, query)).result()
    adaptive._ns_per.pop(OPERATION)
    assert set(adaptive.facts()["nanosPerUnit"]) == {
        "byte of matrix loops",
        "byte of matrix native",
    }


def test_a_request_that_is_wrong_is_told_so_and_counted_nowhere(adaptive: Adaptive) -> None:
    workload = Observed()
    with pytest.raises(ValueError, match="invalid literal"):
        adaptive.execute(Job(workload, workload, b"x")).result()
    assert sum(adaptive.decisions().values()) == adaptive._present == 0


def test_one_request_that_had_to_wait_for_a_core_does_not_move_the_estimate_far(
    adaptive: Adaptive,
) -> None:
    run(adaptive, SMALL)
    adaptive._ns_per[OPERATION] = NS_PER_OPERATION
    Observed(unit_seconds=0.05).run(adaptive, SMALL)
    assert adaptive._ns_per[OPERATION] <= NS_PER_OPERATION * (1 + module.NEWEST_WEIGHT)
