"""The technique that chooses does what it says: who ran what, at which priority, beside whom."""

import gc
import json
import os
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from live_service import kill, wait_until
from observed import NICE, UNITS, Held, Observed
from test_strategies import pids, pool

from restbench_service.execution import adaptive as adaptive_module
from restbench_service.execution.adaptive import MOST_PARSED_BYTES, Adaptive
from restbench_service.execution.calibration_file import NOT_KEPT, CalibrationFile
from restbench_service.execution.clock import StageClock
from restbench_service.execution.costs import Costs, KindCosts
from restbench_service.execution.pool.fault import WorkerDiedError
from restbench_service.execution.pool.pool import ProcessPool
from restbench_service.execution.pool.priority import NICENESS

COSTS = Costs({"observed": KindCosts(0.0, 10_000.0, 1_000_000.0)}, 100_000.0, 0.0)
"""A byte takes 0.01 ms, a unit 1 ms, a trip 0.1 ms."""
SMALL, MIDDLING, LONG, SHARED = b"0", b"1", b"15", b"40"
LONG_BODY = b" " * 1000 + b"1"
WORTH_A_TRIP = b" " * 50 + b"1"
OURS = {os.getpid()}
NAMES = "restbench-F1-"
NORMAL = os.getpriority(os.PRIO_PROCESS, 0)
LOW = NORMAL + NICENESS


class Bulky(Observed):
    def parse(self, body: bytes) -> dict[str, Any]:
        return {**super().parse(body), "bulk": "x" * (MOST_PARSED_BYTES + 1)}


@pytest.fixture
def adaptive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Adaptive]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    file = CalibrationFile(tmp_path / "costs.json", {})
    file.write(COSTS)
    strategy = Adaptive(processes(2), None, (), file)
    strategy.await_ready()
    yield strategy
    strategy.close()


@pytest.fixture
def users() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as executor:
        yield executor


@pytest.fixture
def signal(tmp_path: Path) -> Iterator[Path]:
    """The file that held requests wait for; it is there in the end whatever happens."""
    path = tmp_path / "go on"
    yield path
    path.touch()


def processes(count: int) -> ProcessPool:
    """With a name of their own: there may be other tests' processes beside them."""
    return ProcessPool("requests", "F1", socket.SOCK_STREAM, count, ())


def run(strategy: Adaptive, body: bytes, workload: Observed = Observed()) -> dict[str, Any]:  # noqa: B008 - frozen
    answer: dict[str, Any] = json.loads(strategy.execute(workload, body, StageClock()))
    return answer


def column(answer: dict[str, Any], which: int) -> set[int]:
    return {record[which] for record in answer["records"]}


def hold(
    adaptive: Adaptive, users: ThreadPoolExecutor, signal: Path, bodies: list[bytes]
) -> list[Future[dict[str, Any]]]:
    """Requests that are being handled, or wait for that, until the signal is there."""
    before = sum(adaptive.decisions().values())
    held = [users.submit(run, adaptive, body, Held(until=str(signal))) for body in bodies]
    wait_until(lambda: sum(adaptive.decisions().values()) >= before + len(bodies))
    return held


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


def test_the_loops_of_a_very_long_one_run_in_a_block_on_each_idle_process(
    adaptive: Adaptive,
) -> None:
    answer = run(adaptive, SHARED)
    assert pids(answer) == pool(NAMES)
    assert column(answer, UNITS) == {20}
    assert column(answer, NICE) == {LOW}
    assert adaptive.decisions()["blocks"] == 1


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


def test_after_two_at_once_the_next_is_not_taken_for_alone(
    adaptive: Adaptive,
    users: ThreadPoolExecutor,
    signal: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(adaptive_module, "COMPANY_SECONDS", 3600.0)
    held = hold(adaptive, users, signal, [b"5"])
    held += hold(adaptive, users, signal, [WORTH_A_TRIP])
    signal.touch()
    for future in held:
        future.result()
    assert {run(adaptive, WORTH_A_TRIP)["parse"]} < pool(NAMES)
    assert run(adaptive, SMALL)["parse"] == os.getpid()


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


def test_no_process_that_is_busy_helps(
    adaptive: Adaptive, users: ThreadPoolExecutor, signal: Path
) -> None:
    (held,) = hold(adaptive, users, signal, [LONG])
    answer = run(adaptive, SHARED)
    assert len(pids(answer)) == 1
    assert column(answer, UNITS) == {40}
    assert adaptive.decisions()["blocks"] == 0
    signal.touch()
    held.result()
    assert len(pids(run(adaptive, SHARED))) == 2


@pytest.mark.parametrize("number", [0, 1], ids=["one", "the other"])
def test_a_process_killed_in_a_shared_loop_takes_only_that_request_with_it(
    adaptive: Adaptive, users: ThreadPoolExecutor, signal: Path, number: int
) -> None:
    before = sorted(pool(NAMES))
    (held,) = hold(adaptive, users, signal, [SHARED])
    wait_until(lambda: adaptive.decisions()["blocks"] == 1)
    kill(before[number])
    signal.touch()
    assert isinstance(held.exception(60), WorkerDiedError)
    # One that is still being started does not help.
    wait_until(lambda: len(pids(run(adaptive, SHARED))) == 2)
    assert before[number] not in pids(run(adaptive, SHARED))


def test_an_error_in_a_helper_s_block_is_raised_and_the_next_request_is_right(
    adaptive: Adaptive,
) -> None:
    for failing_unit in (3, 33):
        with pytest.raises(Exception, match=f"{failing_unit} and 7"):
            run(adaptive, SHARED, Observed(failing_unit=failing_unit))
        wait_until(lambda: len(pids(run(adaptive, SHARED))) == 2)


def test_no_descriptor_is_left_open_by_shared_loops(adaptive: Adaptive) -> None:
    for _ in range(4):  # each process has had one, and memory to keep for more
        run(adaptive, SHARED)
    processes = pool(NAMES)
    before = {pid: descriptors(pid) for pid in [*OURS, *processes]}
    for _ in range(5):
        run(adaptive, SHARED)
    assert {pid: descriptors(pid) for pid in [*OURS, *processes]} == before


def descriptors(pid: int) -> int:
    gc.collect()  # what other tests have left is not to be closed between two looks
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


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
