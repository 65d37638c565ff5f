import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, cast

import pytest
from live_service import wait_until
from observed import Observed
from test_core import GOOD, assert_nothing_is_left, core_of, opened

from restbench_service.execution.faults import PoolFailedError
from restbench_service.execution.gate import Gate
from restbench_service.execution.job import JobResult, StageClock, Task, decode_task, run_task
from restbench_service.execution.process_pool import ProcessPool
from restbench_service.execution.techniques import PerRequest


def test_a_gate_lets_waiting_threads_in_by_order_of_arrival() -> None:
    gate, order = Gate(1), list[int]()

    def enter(number: int) -> None:
        with gate.entered(Observed().job(1)):
            order.append(number)

    threads = [threading.Thread(target=enter, args=(number,)) for number in range(20)]
    with gate.entered(Observed().job(1)):
        for arrived, thread in enumerate(threads, start=1):
            thread.start()
            wait_until(lambda n=arrived: len(gate._waiting[False]) == n)  # type: ignore[misc]
    for thread in threads:
        thread.join()
    assert order == list(range(20))


def test_a_gate_is_free_again_after_an_error() -> None:
    gate = Gate(1)
    for _ in range(3):
        with pytest.raises(ValueError), gate.entered(Observed().job(1)):
            raise ValueError
    assert gate._free[False] == 1


def test_a_thousand_turns_that_nobody_wants_are_passed_over_without_a_thread_each() -> None:
    gate, job = Gate(1), Observed().job(1)
    assert gate.enter(job, lambda: True)
    for _ in range(1000):
        assert not gate.enter(job, lambda: False)
    gate.leave(job)
    assert gate._free[False] == 1


def test_a_job_that_cannot_begin_is_told_why_and_its_turn_is_the_next_one_s() -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    gate, job = Gate(1), Observed().job(1)
    with gate.entered(job):
        later = gate.enter_later(job, fail)
        assert not later.done()
    for answer in (later, gate.enter_later(job, fail)):
        assert isinstance(answer.exception(0), RuntimeError)
        assert gate._free[False] == 1


def test_a_pool_that_is_not_back_is_told_to_all_who_wait_without_a_call_in_a_call() -> None:
    class GonePool:
        size = 1
        first = Future[Any]()

        def submit(self, *_: object) -> Future[Any]:
            if not self.first.done():
                return self.first
            gone = Future[Any]()
            gone.set_exception(PoolFailedError("it has no processes now"))
            return gone

    pool = GonePool()
    strategy = PerRequest(cast(ProcessPool, pool), None)
    answers = [strategy.execute(Observed().job(1)) for _ in range(1000)]
    pool.first.set_exception(PoolFailedError("it has no processes now"))
    assert all(isinstance(each.exception(0), PoolFailedError) for each in answers)
    assert strategy.gate._free[False] == 1


def test_a_request_that_need_not_wait_is_not_asked_for_its_client() -> None:
    def asked() -> bool:
        pytest.fail("it was asked")

    with Gate(1).entered(Observed().job(1, is_wanted=asked)):
        pass


def test_what_is_no_other_stage_is_queue_from_the_moment_the_clock_is_made() -> None:
    began_ns = time.perf_counter_ns()
    clock = StageClock()
    time.sleep(0.03)
    clock.switch("parse")
    clock.switch("queue")
    time.sleep(0.01)
    clock.switch("compute")
    time.sleep(0.01)
    clock.switch("queue")
    total_ns = time.perf_counter_ns() - began_ns
    assert clock.elapsed_ns["queue"] >= 40_000_000
    assert 10_000_000 <= clock.elapsed_ns["compute"] <= total_ns - clock.elapsed_ns["queue"]


def test_what_another_process_measured_is_taken_off_the_queue_and_the_way_back_is_not_in_it() -> (
    None
):
    began_ns = time.perf_counter_ns()
    clock = StageClock()
    time.sleep(0.03)
    ended_ns = time.perf_counter_ns()
    time.sleep(0.01)
    clock.add({"queue": 5_000_000, "compute": 20_000_000}, ended_ns)
    assert clock.elapsed_ns["compute"] == 20_000_000
    assert 10_000_000 <= clock.elapsed_ns["queue"] <= ended_ns - began_ns - 20_000_000
    queue_ns = clock.elapsed_ns["queue"]
    clock.switch("compute")
    assert clock.elapsed_ns["queue"] >= queue_ns + 10_000_000, "the way back to a further stage"
    clock.switch("queue")
    clock.add({"compute": 10**12}, time.perf_counter_ns())
    assert clock.elapsed_ns["queue"] == 0


@pytest.mark.parametrize("call", [run_task, decode_task])
def test_a_task_s_stages_end_when_it_says(call: Callable[[Task], JobResult]) -> None:
    job = Observed().job(3)
    before_ns = time.perf_counter_ns()
    result = call(job.task())
    after_ns = time.perf_counter_ns()
    assert before_ns + sum(result.elapsed_ns.values()) <= result.ended_ns <= after_ns


def test_a_part_of_a_stage_is_not_taken_off_the_queue_and_comes_last() -> None:
    clock = StageClock()
    time.sleep(0.002)
    clock.add({"queue": 0, "compute": 1_000_000, "database": 600_000}, time.perf_counter_ns())
    clock.add_parts({"database": 300_000})
    clock.elapsed_ns["queue"] = 0
    assert clock.server_timing().endswith(
        "compute;dur=1.000, serialize;dur=0.000, database;dur=0.900"
    )


def test_the_time_that_a_body_takes_to_come_is_no_part_of_server_timing() -> None:
    core, began = core_of(), time.perf_counter()
    exchange = opened(core)
    while time.perf_counter() - began < 0.01:
        pass
    exchange.take(GOOD)
    whole = time.perf_counter()
    answered = exchange.answer()
    ran_ms = (time.perf_counter() - whole) * 1000
    parts = answered.headers["Server-Timing"].split(", ")
    told_ms = sum(float(part.partition("=")[2]) for part in parts)
    assert told_ms < ran_ms + 0.002  # four numbers are rounded
    answered.sent()
    assert_nothing_is_left(core)
