"""Idle processes help with a long request's loops, and nobody else is the worse for it."""

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from adaptive_under_test import LONG, LOW, NAMES, OURS, SHARED, WORTH_A_TRIP, column, hold, run
from live_service import kill, wait_until
from observed import NICE, UNITS, Observed
from test_strategies import pids, pool

from restbench_service.execution import in_flight
from restbench_service.execution.adaptive import Adaptive
from restbench_service.execution.pool.fault import WorkerDiedError


def test_the_loops_of_a_very_long_one_run_in_a_block_on_each_idle_process(
    adaptive: Adaptive,
) -> None:
    answer = run(adaptive, SHARED)
    assert pids(answer) == pool(NAMES)
    assert column(answer, UNITS) == {20}
    assert column(answer, NICE) == {LOW}
    assert adaptive.decisions()["blocks"] == 1


def test_no_process_that_is_busy_helps(
    adaptive: Adaptive, users: ThreadPoolExecutor, signal: Path
) -> None:
    first = signal.with_name("first")
    (on_thread,) = hold(adaptive, users, first, [b"5"])
    (in_process,) = hold(adaptive, users, signal, [WORTH_A_TRIP])
    first.touch()
    on_thread.result()
    answer = run(adaptive, SHARED)
    assert len(pids(answer)) == 1
    assert column(answer, UNITS) == {40}
    assert adaptive.decisions()["blocks"] == 0
    signal.touch()
    in_process.result()
    assert len(pids(run(adaptive, SHARED))) == 2


def test_a_process_that_had_a_long_one_a_moment_ago_helps_only_when_no_more_comes(
    adaptive: Adaptive,
    users: ThreadPoolExecutor,
    signal: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_flight, "monotonic", lambda: 0.0)
    for held in hold(adaptive, users, signal, [LONG, LONG]):
        signal.touch()
        held.result()
    assert len(pids(run(adaptive, SHARED))) == 1
    monkeypatch.setattr(in_flight, "monotonic", lambda: 2 * in_flight.PERIOD_SECONDS)
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
