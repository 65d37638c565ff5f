"""However the service is stopped: what runs is finished, nothing new begins, nothing is left."""

import json
import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from live_metrics import begun, in_flight
from live_service import (
    Answer,
    LiveService,
    answers,
    children,
    everyone_below,
    kill,
    running,
    state_of,
    wait_until,
)
from raw_client import answer_of, connected, everything, post_head
from test_killed_processes import LONG, SMALL, computing, matrices, post

VERY_LONG = matrices(1000, 400, 500, "very long")  # far longer than any stop may take here


@pytest.fixture
def users() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as executor:
        yield executor


@contextmanager
def requests_running(
    service: LiveService, users: ThreadPoolExecutor, strategy: str, body: bytes = LONG[0]
) -> Iterator[list[Future[Answer]]]:
    """Three of them, one at least computing in a process of a pool."""
    busy = computing(list(service.pool("PR" if strategy.endswith("request") else "PE").values()))
    found = [users.submit(post, service, strategy, body) for _ in range(3)]
    wait_until(lambda: begun(service) == len(found))
    wait_until(busy)
    yield found


def everyone(service: LiveService) -> list[int]:
    return [service.process.pid, *everyone_below(service.process.pid)]


def is_refused(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            return False
    except OSError:
        return True


@pytest.mark.parametrize("to_the_group", [False, True], ids=["to the master", "to the group"])
def test_control_c_finishes_what_runs_as_term_does_and_another_does_no_harm(
    tmp_path: Path, users: ThreadPoolExecutor, to_the_group: bool
) -> None:
    with running(tmp_path / "log", PROCESSES="2") as service:
        pids = everyone(service)
        with requests_running(service, users, "process-per-request") as found:
            for pid in pids if to_the_group else pids[:1]:
                os.kill(pid, signal.SIGINT)
            wait_until(lambda: is_refused(service.port))
            for again in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
                os.kill(service.process.pid, again)
            assert [future.result().body for future in found] == [LONG[1]] * 3
        assert service.process.wait(60) == 0
    wait_until(lambda: {state_of(pid) for pid in pids} <= {"X", "Z"})


def test_a_stopping_service_takes_no_new_connection(
    tmp_path: Path, users: ThreadPoolExecutor
) -> None:
    with (
        running(tmp_path / "log", PROCESSES="1") as service,
        connected(service.port) as idle,
        requests_running(service, users, "process-per-element") as found,
    ):
        idle.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer_of(idle).status == 200
        service.process.terminate()
        wait_until(lambda: is_refused(service.port))
        assert everything(idle) == b""
        assert [future.result().body for future in found] == [LONG[1]] * 3
        assert service.process.wait(60) == 0


def test_a_request_that_runs_in_a_pool_for_longer_than_a_stop_may_take_is_cut_off(
    tmp_path: Path,
) -> None:
    with (
        running(tmp_path / "log", PROCESSES="1", STOP_TIMEOUT_SECONDS="1") as service,
        connected(service.port) as client,
    ):
        pids = everyone(service)
        head = post_head(len(VERY_LONG[0])).replace(b"serial", b"process-per-request")
        client.sendall(head + VERY_LONG[0])
        wait_until(lambda: in_flight(service) == 1)
        service.process.terminate()
        assert service.process.wait(60) == 0
        assert VERY_LONG[1] not in everything(client)
        wait_until(lambda: {state_of(pid) for pid in pids} <= {"X", "Z"})


def test_all_processes_end_when_gunicorn_s_master_is_killed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError), running(tmp_path / "log", PROCESSES="2") as service:
        pids = everyone(service)
        kill(service.process.pid)
        wait_until(lambda: {state_of(pid) for pid in pids[1:]} <= {"X", "Z"})
        assert is_refused(service.port)
    assert service.process.wait(60) == -signal.SIGKILL


def test_a_worker_that_does_nothing_any_more_is_replaced(tmp_path: Path) -> None:
    with running(tmp_path / "log", PROCESSES="1", STUCK_TIMEOUT_SECONDS="8") as service:
        worker, pool = service.worker_pid(), service.pool()
        os.kill(worker, signal.SIGSTOP)
        wait_until(lambda: children(service.process.pid) not in ([], [worker]))
        wait_until(lambda: answers(service.port))
        assert post(service, "process-per-request", SMALL[0]).body == SMALL[1]
        wait_until(lambda: all(state_of(pid) in "XZ" for pid in [worker, *pool.values()]))


def test_a_worker_s_death_takes_only_the_requests_of_its_connections(
    tmp_path: Path, users: ThreadPoolExecutor
) -> None:
    with running(tmp_path / "log", PROCESSES="2") as service:
        with requests_running(service, users, "process-per-request", VERY_LONG[0]) as found:
            kill(service.worker_pid())
            assert all(isinstance(future.exception(), OSError) for future in found)
        wait_until(lambda: answers(service.port))
        health = json.loads(service.request("GET", "/health").body)
        assert health["status"] == "ok"
        assert all(post(service, "serial", SMALL[0]).body == SMALL[1] for _ in range(20))
