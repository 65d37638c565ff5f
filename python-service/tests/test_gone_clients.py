"""Requests whose clients went away while they queued are not computed."""

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from live_metrics import answered, in_flight
from live_service import LiveService, cpu_ticks, everyone_below, running, wait_until
from raw_client import post_head
from test_frameworks import SEES_CONNECTIONS
from test_killed_processes import SMALL, matrices, post

LONG = matrices(500, 3000, 50, "long")  # computes for far longer than the others take to queue
QUEUED = 10
WELL_INTO_COMPUTING_TICKS = 20  # of CPU time, 0.2 s: far more than taking in a body costs


def used_ticks(service: LiveService) -> int:
    """CPU time of the service and its pools since they started."""
    pids = [service.process.pid, *everyone_below(service.process.pid)]
    return sum(cpu_ticks(pid) for pid in pids)


def queued(service: LiveService, strategy: str) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", service.port))
    head = post_head(len(SMALL[0])).replace(b"serial", strategy.encode())
    client.sendall(head + SMALL[0])
    return client


@pytest.mark.parametrize(
    ("framework", "strategy"),
    [
        *[(name, "serial") for name in SEES_CONNECTIONS],
        *[(name, "process-per-request") for name in ("flask", "fastapi")],
    ],
)
def test_the_requests_of_clients_that_left_the_queue_are_not_computed(
    tmp_path: Path, framework: str, strategy: str
) -> None:
    with (
        running(tmp_path / "log", FRAMEWORK=framework, PROCESSES="1") as service,
        ThreadPoolExecutor(1) as user,
    ):
        first = user.submit(post, service, strategy, LONG[0])
        wait_until(lambda: in_flight(service) == 1)
        # In flight is also who still sends a body: a short request could overtake the long one.
        begun_ticks = used_ticks(service)
        wait_until(lambda: used_ticks(service) - begun_ticks > WELL_INTO_COMPUTING_TICKS)
        clients = [queued(service, strategy) for _ in range(QUEUED)]
        wait_until(lambda: in_flight(service) == 1 + QUEUED)
        assert not first.done()
        for client in clients:
            client.close()
        assert first.result().body == LONG[1]
        wait_until(lambda: sum(answered(service).values()) == 1 + QUEUED)
        assert answered(service) == {"200": 1, "503": QUEUED}
        assert in_flight(service) == 0
        assert post(service, strategy, SMALL[0]).body == SMALL[1]
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log
    assert "ERROR" not in log
