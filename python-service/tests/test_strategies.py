"""Each technique is what it is called: which processes ran, how many at once, on which cores."""

import gc
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from live_service import children, name_of
from observed import CORES, END_NS, PID, START_NS, UNITS, Copied, Meeting, Observed, Verbose

from restbench_service.execution.clock import StageClock
from restbench_service.execution.strategies import Start, start_strategies
from restbench_service.execution.strategy import Strategy

Table = dict[str, Strategy]
MASK = sum(1 << core for core in os.sched_getaffinity(0))
every_strategy = pytest.mark.parametrize(
    "name", ["serial", "process-per-element", "process-per-request", "adaptive"]
)


def run(
    strategy: Strategy, units: int, seconds: float = 0.0, meeting: Meeting | None = None
) -> dict[str, Any]:
    workload = Observed(seconds, meeting=meeting)
    answer: dict[str, Any] = json.loads(
        strategy.execute(workload, str(units).encode(), StageClock())
    )
    return answer


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


def pool(prefix: str) -> set[int]:
    return {pid for pid in children(os.getpid()) if name_of(pid).startswith(prefix)}


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


def test_process_per_element_handles_the_request_in_the_service_s_own_process(
    strategies: Table,
) -> None:
    answer = run(strategies["process-per-element"], 25)
    assert {answer[stage] for stage in ("parse", "compute", "serialize")} == {os.getpid()}


def test_process_per_element_runs_each_unit_as_a_task_of_its_own(strategies: Table) -> None:
    records = run(strategies["process-per-element"], 250)["records"]
    assert [record[UNITS] for record in records] == [1] * 250


def test_process_per_element_runs_units_on_all_its_processes_at_once(
    strategies: Table, tmp_path: Path
) -> None:
    answer = run(strategies["process-per-element"], 40, 0.005, Meeting(str(tmp_path), 2))
    assert pids(answer) == pool("restbench-PE-")
    assert len(pids(answer)) == 2
    assert peak([(r[START_NS], r[END_NS]) for r in answer["records"]]) == 2


def test_process_per_element_runs_one_request_s_elements_at_a_time(strategies: Table) -> None:
    assert peak(spans(run_together(strategies["process-per-element"], 3, 10, 0.002))) == 1


def test_process_per_request_does_a_whole_request_in_one_other_process(strategies: Table) -> None:
    answer = run(strategies["process-per-request"], 25)
    stages = {answer[stage] for stage in ("parse", "compute", "serialize")}
    assert stages == pids(answer)
    assert len(stages) == 1
    assert stages < pool("restbench-PR-")


def test_process_per_request_runs_the_loop_uncut(strategies: Table) -> None:
    records = run(strategies["process-per-request"], 25)["records"]
    assert {record[UNITS] for record in records} == {25}


def test_process_per_request_runs_as_many_requests_as_it_has_processes(
    strategies: Table, tmp_path: Path
) -> None:
    meeting = Meeting(str(tmp_path), 2)
    answers = run_together(strategies["process-per-request"], 5, 1, 0.05, meeting)
    assert peak(spans(answers)) == 2
    assert set().union(*map(pids, answers)) == pool("restbench-PR-")


@every_strategy
def test_the_processes_may_use_the_cores_of_the_service(strategies: Table, name: str) -> None:
    answer = run(strategies[name], 10)
    assert {record[CORES] for record in answer["records"]} == {MASK}


@every_strategy
def test_an_error_of_a_unit_is_raised_even_if_it_cannot_be_pickled(
    strategies: Table, name: str
) -> None:
    with pytest.raises(Exception, match="3 and 7"):
        strategies[name].execute(Observed(0.0, failing_unit=3), b"10", StageClock())
    assert len(run(strategies[name], 10)["records"]) == 10


@every_strategy
def test_the_wait_for_other_requests_is_queue_and_not_compute(strategies: Table, name: str) -> None:
    everyone_is_here = Barrier(6)

    def timed(_: int) -> StageClock:
        clock = StageClock()
        everyone_is_here.wait(60)
        strategies[name].execute(Observed(0.05), b"1", clock)
        return clock

    with ThreadPoolExecutor(6) as users:
        clocks = list(users.map(timed, range(6)))
    queues, computes = ([c.elapsed_ns[stage] for c in clocks] for stage in ("queue", "compute"))
    assert min(computes) >= 50_000_000
    assert max(queues) >= min(computes)


def test_the_setting_of_running_requests_holds_and_the_pools_stay_in_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    wanted = {
        "serial": 4,
        "process-per-element": 1,
        "process-per-request": 2,
        "adaptive": 2,
    }
    table = start_strategies(Start(2, 4, ()))
    try:
        assert {
            name: most_at_once(table[name], tmp_path / name, wanted[name]) for name in table
        } == (wanted)
    finally:
        for strategy in table.values():
            strategy.close()


def most_at_once(strategy: Strategy, folder: Path, wanted: int) -> int:
    """Of six requests, of which so many meet."""
    folder.mkdir()
    return peak(spans(run_together(strategy, 6, 2, 0.05, Meeting(str(folder), wanted))))


def test_a_long_error_of_a_unit_arrives_cut(strategies: Table) -> None:
    for name in ("process-per-element", "process-per-request"):
        with pytest.raises(RuntimeError, match="xxxx") as error:
            strategies[name].execute(Verbose(), b"3", StageClock())
        assert len(str(error.value)) == 1000
        assert len(run(strategies[name], 10)["records"]) == 10


def test_process_per_element_refuses_an_array_that_its_processes_would_only_copy(
    strategies: Table,
) -> None:
    with pytest.raises(TypeError, match=r"loop\.array"):
        strategies["process-per-element"].execute(Copied(), b"3", StageClock())


@every_strategy
def test_no_descriptor_is_left_open_by_a_request(strategies: Table, name: str) -> None:
    run(strategies[name], 10)
    before = open_descriptors()
    for _ in range(5):
        run(strategies[name], 10)
    assert open_descriptors() == before
