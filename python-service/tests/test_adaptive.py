"""The technique that chooses does what it says: who ran what, at which priority, beside whom."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from adaptive_under_test import (
    LONG,
    LONG_BODY,
    LOW,
    MIDDLING,
    NAMES,
    NORMAL,
    OURS,
    SHARED,
    SMALL,
    WORTH_A_TRIP,
    WORTH_ONE_OF_FEW,
    column,
    hold,
    processes,
    run,
)
from observed import NICE, UNITS, Observed
from test_strategies import pids, pool

from restbench_service.execution import in_flight
from restbench_service.execution.adaptive import MOST_PARSED_BYTES, Adaptive
from restbench_service.execution.calibration_file import NOT_KEPT


class Bulky(Observed):
    def parse(self, body: bytes) -> dict[str, Any]:
        return {**super().parse(body), "bulk": "x" * (MOST_PARSED_BYTES + 1)}


def test_a_request_alone_that_is_not_long_stays_on_its_thread(adaptive: Adaptive) -> None:
    answer = run(adaptive, MIDDLING)
    assert {answer["parse"], answer["compute"], answer["serialize"]} == pids(answer) == OURS
    assert column(answer, NICE) == {NORMAL}
    assert adaptive.decisions()["caller"] == 1


def test_a_long_body_is_not_even_parsed_on_its_thread_but_in_a_process_of_low_priority(
    adaptive: Adaptive,
) -> None:
    answer = run(adaptive, LONG_BODY)
    stages = {answer["parse"], answer["compute"], answer["serialize"]}
    assert stages == pids(answer) < pool(NAMES)
    assert column(answer, NICE) == {LOW}
    assert adaptive.decisions()["low-priority-process"] == 1


def test_what_turns_out_to_be_long_is_computed_in_a_process_of_low_priority(
    adaptive: Adaptive,
) -> None:
    answer = run(adaptive, LONG)
    assert answer["parse"] == os.getpid()
    assert {answer["compute"], answer["serialize"]} == pids(answer) < pool(NAMES)
    assert column(answer, NICE) == {LOW}
    assert column(answer, UNITS) == {15}


def test_what_is_large_once_it_is_parsed_waits_as_its_body(adaptive: Adaptive) -> None:
    answer = run(adaptive, LONG, Bulky())
    assert {answer["parse"]} == {answer["compute"]} < pool(NAMES)


def test_the_priority_of_the_processes_is_normal_for_others_afterwards(
    adaptive: Adaptive, users: ThreadPoolExecutor, signal: Path
) -> None:
    run(adaptive, SHARED)
    (held,) = hold(adaptive, users, signal, [b"5"])
    answer = run(adaptive, WORTH_A_TRIP)
    assert pids(answer) < pool(NAMES)
    assert column(answer, NICE) == {NORMAL}
    signal.touch()
    held.result()


def test_one_that_is_worth_a_trip_goes_to_a_process_while_another_is_on_its_thread(
    adaptive: Adaptive, users: ThreadPoolExecutor, signal: Path
) -> None:
    (held,) = hold(adaptive, users, signal, [b"5"])
    answer = run(adaptive, WORTH_A_TRIP)
    assert {answer["parse"]} == pids(answer) < pool(NAMES)
    assert not held.done()
    signal.touch()
    held.result()


def all_at_once(
    adaptive: Adaptive, users: ThreadPoolExecutor, signal: Path, bodies: list[bytes]
) -> None:
    """Each of them is held before the next comes; then all are answered."""
    held = [future for body in bodies for future in hold(adaptive, users, signal, [body])]
    signal.touch()
    for future in held:
        future.result()


def test_after_two_at_once_the_next_is_not_taken_for_alone(
    adaptive: Adaptive,
    users: ThreadPoolExecutor,
    signal: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_flight, "monotonic", lambda: 0.0)
    all_at_once(adaptive, users, signal, [b"5", WORTH_A_TRIP])
    assert {run(adaptive, WORTH_A_TRIP)["parse"]} < pool(NAMES)
    assert run(adaptive, SMALL)["parse"] == os.getpid()


def test_a_smaller_one_is_sent_away_only_while_there_is_a_process_for_each(
    adaptive: Adaptive,
    users: ThreadPoolExecutor,
    signal: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_flight, "monotonic", lambda: 0.0)
    all_at_once(adaptive, users, signal, [b"5", WORTH_A_TRIP])
    assert {run(adaptive, WORTH_ONE_OF_FEW)["parse"]} < pool(NAMES)
    signal.unlink()
    all_at_once(adaptive, users, signal, [b"5", WORTH_A_TRIP, WORTH_A_TRIP])
    assert run(adaptive, WORTH_ONE_OF_FEW)["parse"] == os.getpid()
    assert {run(adaptive, WORTH_A_TRIP)["parse"]} < pool(NAMES)


def test_small_and_middling_ones_pass_long_ones_that_hold_every_process(
    adaptive: Adaptive, users: ThreadPoolExecutor, signal: Path
) -> None:
    held = hold(adaptive, users, signal, [LONG] * 5)
    for body in (SMALL, MIDDLING, WORTH_A_TRIP):
        assert run(adaptive, body)["parse"] == os.getpid()
    assert not any(future.done() for future in held)
    signal.touch()
    for future in held:
        future.result()


def test_one_worth_a_trip_does_not_queue_behind_a_long_one(
    adaptive: Adaptive, users: ThreadPoolExecutor, signal: Path
) -> None:
    (first,) = hold(adaptive, users, signal.with_name("first"), [b"5"])
    in_processes = hold(adaptive, users, signal, [WORTH_A_TRIP]) + hold(
        adaptive, users, signal, [LONG_BODY]
    )
    signal.with_name("first").touch()
    first.result()
    assert run(adaptive, WORTH_A_TRIP)["parse"] == os.getpid()
    assert not any(future.done() for future in in_processes)
    signal.touch()
    for future in in_processes:
        future.result()
    assert adaptive.decisions() == {
        "caller": 2,
        "process": 1,
        "low-priority-process": 1,
        "blocks": 0,
    }


def test_without_samples_every_request_goes_to_a_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    strategy = Adaptive(processes(1), None, (), NOT_KEPT)
    try:
        assert pids(run(strategy, MIDDLING)) == pool(NAMES)
        assert run(strategy, SMALL)["parse"] != os.getpid()
    finally:
        strategy.close()
