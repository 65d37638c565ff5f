"""Each technique is what it is called: which processes ran, how many at once, on which cores."""

import gc
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier
from time import perf_counter_ns, sleep
from typing import Any

import pytest
from live_service import PER_ELEMENT, PER_REQUEST, PRELOADED, STRATEGIES, pool, wait_until
from observed import (
    CORES,
    END_NS,
    PID,
    START_NS,
    UNITS,
    Copied,
    Held,
    Meeting,
    Observed,
    Verbose,
    Waiting,
)

from restbench_service.execution.faults import AbandonedError, PoolFailedError
from restbench_service.execution.gate import Gate
from restbench_service.execution.strategies import Start, close_strategies, start_strategies
from restbench_service.execution.strategy import Strategy
from restbench_service.execution.techniques import BLOCKING_THREADS, Serial, WorkerPool

Table = dict[str, Strategy]
MASK = sum(1 << core for core in os.sched_getaffinity(0))
every_strategy = pytest.mark.parametrize("name", STRATEGIES)
per_element = pytest.mark.parametrize("name", PER_ELEMENT)
per_request = pytest.mark.parametrize("name", PER_REQUEST)


def run(
    strategy: Strategy, units: int, seconds: float = 0.0, meeting: Meeting | None = None
) -> dict[str, Any]:
    workload = Observed(seconds, meeting=meeting)
    return workload.run(strategy, units)


def run_together(
    strategy: Strategy, requests: int, units: int, seconds: float, meeting: Meeting | None = None
) -> list[Any]:
    with ThreadPoolExecutor(requests) as users:
        return list(users.map(lambda _: run(strategy, units, seconds, meeting), range(requests)))


def pids(answer: dict[str, Any]) -> set[int]:
    return {record[PID] for record in answer["records"]}


def open_descriptors() -> int:
    gc.collect()  # what other tests have left is not to be closed between two looks
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def peak(intervals: list[tuple[int, int]]) -> int:
    """The largest number of intervals that have a moment in common."""
    return max(sum(start <= moment < end for start, end in intervals) for moment, _ in intervals)


def spans(answers: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """When each request's loop began and ended."""
    return [
        (min(r[START_NS] for r in a["records"]), max(r[END_NS] for r in a["records"]))
        for a in answers
    ]


def test_serial_does_everything_in_the_service_s_own_process(strategies: Table) -> None:
    answer = run(strategies["serial"], 25)
    stages = {answer[stage] for stage in ("parse", "compute", "serialize")}
    assert stages == pids(answer) == {os.getpid()}


def test_serial_runs_a_loop_uncut(strategies: Table) -> None:
    assert {record[UNITS] for record in run(strategies["serial"], 25)["records"]} == {25}


def test_serial_runs_one_request_at_a_time(strategies: Table) -> None:
    assert peak(spans(run_together(strategies["serial"], 4, 1, 0.02))) == 1


@per_element
def test_a_technique_per_element_handles_the_request_in_the_service_s_own_process(
    strategies: Table, name: str, prefix: str
) -> None:
    answer = run(strategies[name], 25)
    assert {answer[stage] for stage in ("parse", "compute", "serialize")} == {os.getpid()}
    assert pids(answer) <= set(pool(prefix).values())


@per_element
def test_a_technique_per_element_runs_each_unit_as_a_task_of_its_own(
    strategies: Table, name: str
) -> None:
    records = run(strategies[name], 250)["records"]
    assert [record[UNITS] for record in records] == [1] * 250


@per_element
def test_a_technique_per_element_runs_units_on_all_its_processes_at_once(
    strategies: Table, tmp_path: Path, name: str, prefix: str
) -> None:
    answer = run(strategies[name], 40, 0.005, Meeting(str(tmp_path), 2))
    assert pids(answer) == set(pool(prefix).values())
    assert set(pool(prefix)) == {f"{prefix}1", f"{prefix}2"}
    assert peak([(r[START_NS], r[END_NS]) for r in answer["records"]]) == 2


@per_element
def test_a_technique_per_element_runs_one_request_s_elements_at_a_time(
    strategies: Table, name: str
) -> None:
    assert peak(spans(run_together(strategies[name], 3, 10, 0.002))) == 1
    assert strategies[name].permits == 1


@per_request
def test_a_technique_per_request_does_a_whole_request_in_one_other_process(
    strategies: Table, name: str, prefix: str
) -> None:
    answer = run(strategies[name], 25)
    stages = {answer[stage] for stage in ("parse", "compute", "serialize")}
    assert stages == pids(answer)
    assert len(stages) == 1
    assert stages < set(pool(prefix).values())
    assert {record[UNITS] for record in answer["records"]} == {25}


@per_request
def test_a_technique_per_request_runs_as_many_requests_as_it_has_processes(
    strategies: Table, tmp_path: Path, name: str, prefix: str
) -> None:
    meeting = Meeting(str(tmp_path), 2)
    answers = run_together(strategies[name], 5, 1, 0.05, meeting)
    assert peak(spans(answers)) == 2 == strategies[name].permits
    assert set().union(*map(pids, answers)) == set(pool(prefix).values())


@per_request
def test_a_technique_per_request_parks_no_thread(
    strategies: Table, signal: Path, name: str
) -> None:
    held = Held(until=str(signal))
    futures = [strategies[name].execute(held.job(1)) for _ in range(5)]  # all from this thread
    assert not any(future.done() for future in futures)
    signal.touch()
    assert all(future.result(60) for future in futures)


@every_strategy
def test_the_processes_may_use_the_cores_of_the_service(strategies: Table, name: str) -> None:
    answer = run(strategies[name], 10)
    assert {record[CORES] for record in answer["records"]} == {MASK}


@every_strategy
def test_an_error_of_a_unit_is_raised_even_if_it_cannot_be_pickled(
    strategies: Table, name: str
) -> None:
    with pytest.raises(Exception, match="3 and 7"):
        strategies[name].execute(Observed(0.0, failing_unit=3).job(10)).result()
    assert len(run(strategies[name], 10)["records"]) == 10


@every_strategy
def test_the_wait_for_other_requests_is_queue_and_not_compute(strategies: Table, name: str) -> None:
    everyone_is_here = Barrier(6)

    def timed(_: int) -> dict[str, int]:
        everyone_is_here.wait(60)
        job = Observed(0.05).job(1)
        strategies[name].execute(job).result()
        return job.clock.elapsed_ns

    with ThreadPoolExecutor(6) as users:
        times = list(users.map(timed, range(6)))
    assert min(each["compute"] for each in times) >= 50_000_000
    if strategies[name].permits is not None:
        assert max(each["queue"] for each in times) >= min(each["compute"] for each in times)


@pytest.mark.parametrize("name", ["serial", "process-per-element", "worker-pool"])
def test_a_workload_that_waits_for_other_things_needs_no_permit(
    strategies: Table, name: str, tmp_path: Path
) -> None:
    """Where it is computed by its caller; a pool has no more than its processes."""
    meeting = Meeting(str(tmp_path), 2)
    with ThreadPoolExecutor(2) as users:
        answers = users.map(lambda _: Waiting(meeting=meeting).run(strategies[name], 1), range(2))
        assert [len(answer["records"]) for answer in answers] == [1, 1]


@pytest.mark.parametrize(
    ("name", "is_blocking"),
    [
        *[(name, False) for name in ("serial", *PER_ELEMENT, *PER_REQUEST, "worker-pool")],
        *[(name, True) for name in (*PER_REQUEST, "worker-pool")],
    ],
)
def test_a_request_whose_client_left_while_it_waited_is_not_run(
    strategies: Table, signal: Path, users: ThreadPoolExecutor, name: str, is_blocking: bool
) -> None:
    """The others do a blocking request at once; adaptive has places with permits of their kinds."""
    strategy: Any = strategies[name]
    gate: Gate = strategy.gate
    assert gate._free[is_blocking] < 100, "such requests have permits of their own"
    held = (HeldWaiting if is_blocking else Held)(until=str(signal))
    first = [users.submit(strategy.execute, held.job(1)) for _ in range(gate._free[is_blocking])]
    wait_until(lambda: gate._free[is_blocking] == 0)
    gone = users.submit(strategy.execute, held.job(1, is_wanted=lambda: False))
    wait_until(lambda: len(gate._waiting[is_blocking]) == 1)
    signal.touch()
    assert isinstance(gone.result(60).exception(60), AbandonedError)
    assert all(future.result(60).result(60) for future in first)
    assert (Waiting if is_blocking else Observed)().run(strategy, 1)["records"], "the next one's"


def test_the_setting_of_running_requests_holds(tmp_path: Path) -> None:
    wanted = {
        "serial": 4,
        "process-per-element": 4,
        "process-per-request": 2,
        "executor-per-element": 4,
        "executor-per-request": 2,
    }
    table = start_strategies(Start(2, 4, PRELOADED))
    try:
        assert {name: table[name].permits for name in wanted} == wanted
        meeting = Meeting(str(tmp_path), 4)
        assert peak(spans(run_together(table["serial"], 6, 2, 0.05, meeting))) == 4
    finally:
        for strategy in table.values():
            strategy.close()


@pytest.mark.parametrize("name", [*PER_ELEMENT, *PER_REQUEST])
def test_a_long_error_of_a_unit_arrives_cut(strategies: Table, name: str) -> None:
    with pytest.raises(RuntimeError, match="xxxx") as error:
        strategies[name].execute(Verbose().job(3)).result()
    assert len(str(error.value)) == 1000
    assert len(run(strategies[name], 10)["records"]) == 10


@per_element
def test_a_technique_per_element_refuses_an_array_that_its_processes_would_only_copy(
    strategies: Table, name: str
) -> None:
    with pytest.raises(TypeError, match=r"loop\.array"):
        strategies[name].execute(Copied().job(3)).result()


@every_strategy
def test_no_descriptor_is_left_open_by_a_request(strategies: Table, name: str) -> None:
    run(strategies[name], 10)
    before = open_descriptors()
    for _ in range(5):
        run(strategies[name], 10)
    assert open_descriptors() == before


@every_strategy
def test_what_a_process_measured_is_no_queue_here(strategies: Table, name: str) -> None:
    job = Observed(0.05).job(1)
    began_ns = perf_counter_ns()
    strategies[name].execute(job).result()
    total_ns = perf_counter_ns() - began_ns
    assert job.clock.elapsed_ns["compute"] >= 50_000_000
    assert sum(job.clock.elapsed_ns.values()) <= total_ns + 1_000_000


def test_worker_pool_does_a_request_on_one_of_its_threads(strategies: Table, signal: Path) -> None:
    """As many at once as it has for the kind, by their names in /proc; the caller does not wait."""
    size = len(os.sched_getaffinity(0))
    for kind, most in ((Held, size), (HeldWaiting, BLOCKING_THREADS)):
        futures = [
            strategies["worker-pool"].execute(kind(until=str(signal)).job(1))
            for _ in range(most + 5)
        ]
        wait_until(lambda most=most: threads_named("WP-") >= most)  # type: ignore[misc]
        assert not any(future.done() for future in futures)
    assert threads_named("WP-") == size + BLOCKING_THREADS
    signal.touch()
    answer = json.loads(futures[0].result(60))
    assert answer["parse"] == answer["serialize"] == os.getpid()
    assert all(future.result(60) for future in futures)


def threads_named(prefix: str) -> int:
    names = (path.read_text() for path in Path("/proc/self/task").glob("*/comm"))
    return sum(name.startswith(prefix) for name in names)


@dataclass(frozen=True)
class HeldWaiting(Held):
    is_blocking = True


def test_the_setting_of_threads_holds_for_every_kind(signal: Path) -> None:
    pool, before = WorkerPool(3, None), threads_named("WP-")
    held = HeldWaiting(until=str(signal))
    futures = [pool.execute(held.job(1)) for _ in range(6)]
    wait_until(lambda: threads_named("WP-") == before + 3)
    assert pool.permits == 3
    pool.close()
    signal.touch()
    assert all(future.result(60) for future in futures[:3])
    assert isinstance(futures[5].exception(60), PoolFailedError)
    assert isinstance(pool.execute(held.job(1)).exception(60), PoolFailedError)


class Slow(Serial):
    """Takes a while to close."""

    def __init__(self, seconds: float) -> None:
        super().__init__(None)
        self._seconds = seconds

    def close(self) -> None:
        sleep(self._seconds)


def test_all_strategies_close_within_one_time_whatever_their_number() -> None:
    began_ns = perf_counter_ns()
    close_strategies([Slow(60.0) for _ in range(20)], 0.1)
    assert perf_counter_ns() - began_ns < 30e9
