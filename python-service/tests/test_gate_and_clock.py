import socket
import threading
import time

import pytest
from live_service import wait_until

from restbench_service.client import client_waits
from restbench_service.execution.clock import StageClock
from restbench_service.execution.gate import AbandonedError, Gate
from restbench_service.server.timed_socket import TimedSocket


def test_a_gate_lets_waiting_threads_in_by_order_of_arrival() -> None:
    gate, order = Gate(1), list[int]()

    def enter(number: int) -> None:
        with gate.entered(StageClock()):
            order.append(number)

    threads = [threading.Thread(target=enter, args=(number,)) for number in range(20)]
    with gate.entered(StageClock()):
        for arrived, thread in enumerate(threads, start=1):
            thread.start()
            wait_until(lambda arrived=arrived: len(gate._waiting) == arrived)  # type: ignore[misc]
    for thread in threads:
        thread.join()
    assert order == list(range(20))


def test_a_gate_is_free_again_after_an_error() -> None:
    gate = Gate(1)
    for _ in range(3):
        try:
            with gate.entered(StageClock()):
                raise ValueError
        except ValueError:
            continue
    assert gate._free == 1


def test_a_stage_inside_another_interrupts_it() -> None:
    clock = StageClock()
    began_ns = time.perf_counter_ns()
    with clock.stage("compute"):
        with clock.stage("queue"):
            time.sleep(0.03)
        time.sleep(0.01)
    total_ns = time.perf_counter_ns() - began_ns
    assert clock.elapsed_ns["queue"] >= 30_000_000
    assert 10_000_000 <= clock.elapsed_ns["compute"] <= total_ns - clock.elapsed_ns["queue"]


def test_server_timing_names_the_stages_in_order_with_three_decimals() -> None:
    clock = StageClock()
    clock.add({"serialize": 345_000, "queue": 12_000, "compute": 1_234_567, "parse": 1_000_000_000})
    assert (
        clock.server_timing()
        == "queue;dur=0.012, parse;dur=1000.000, compute;dur=1.235, serialize;dur=0.345"
    )


def test_a_request_whose_client_went_while_it_waited_gives_its_turn_to_the_next() -> None:
    gate, ended = Gate(1), list[bool]()

    def enter_for_nobody() -> None:
        with pytest.raises(AbandonedError), gate.entered(StageClock(is_wanted=lambda: False)):
            pytest.fail("it ran for nobody")
        ended.append(True)

    thread = threading.Thread(target=enter_for_nobody)
    with gate.entered(StageClock()):
        thread.start()
        wait_until(lambda: len(gate._waiting) == 1)
    thread.join()
    assert ended == [True]
    with gate.entered(StageClock()):
        pass


def test_a_request_that_need_not_wait_is_not_asked_for_its_client() -> None:
    def asked() -> bool:
        pytest.fail("it was asked")

    with Gate(1).entered(StageClock(is_wanted=asked)):
        pass


def test_a_client_that_waits_is_told_from_one_that_is_gone() -> None:
    ours, theirs = socket.socketpair()
    environ = {"gunicorn.socket": TimedSocket(ours, 1.0)}
    assert client_waits(environ)
    theirs.send(b"the next request")
    assert client_waits(environ)
    assert ours.recv(100) == b"the next request"
    theirs.close()
    assert not client_waits(environ)
    ours.close()
    assert client_waits({})
