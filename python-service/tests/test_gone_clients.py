"""Requests whose clients went away while they queued are not computed."""

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from live_metrics import answered, in_flight
from live_service import STRATEGIES, LiveService, cpu_ticks, running, wait_until
from test_killed_processes import SMALL, matrices, post

LONG = matrices(500, 3000, 50, "long")  # computes for far longer than the others take to queue
LONG_AT_LOW_PRIORITY = matrices(500, 1000, 50, "long")
QUEUED = 10
WELL_INTO_COMPUTING_TICKS = 20  # of CPU time, 0.2 s: far more than taking in a body costs


def used_ticks(service: LiveService) -> int:
    """CPU time of the web process and its pools since they started."""
    return sum(cpu_ticks(pid) for pid in (service.worker_pid(), *service.pool().values()))


def queued(service: LiveService, strategy: str) -> socket.socket:
    # small ones do not queue there
    body = LONG_AT_LOW_PRIORITY[0] if strategy == "adaptive" else SMALL[0]
    head = f"POST /matrix/{strategy} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    client = socket.create_connection(("127.0.0.1", service.port))
    client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return client


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_requests_of_clients_that_left_the_queue_are_not_computed(
    tmp_path: Path, strategy: str
) -> None:
    with (
        running(tmp_path / "log", PROCESSES="1") as service,
        ThreadPoolExecutor(1) as user,
    ):
        request, answer = LONG_AT_LOW_PRIORITY if strategy == "adaptive" else LONG
        first = user.submit(post, service, strategy, request)
        wait_until(lambda: in_flight(service) == 1)
        # In flight is also who still sends a body: a short request could overtake the long one.
        begun_ticks = used_ticks(service)
        wait_until(lambda: used_ticks(service) - begun_ticks > WELL_INTO_COMPUTING_TICKS)
        clients = [queued(service, strategy) for _ in range(QUEUED)]
        # not all: gunicorn may look at some connections only later, and then meets closed ones
        wait_until(lambda: in_flight(service) > 1)
        assert not first.done()
        for client in clients:
            client.close()
        assert first.result().body == answer
        wait_until(lambda: sum(answered(service).values()) == 1 + QUEUED)
        assert answered(service) == {"200": 1, "503": QUEUED}
        assert in_flight(service) == 0
        assert post(service, strategy, SMALL[0]).body == SMALL[1]
        log = (tmp_path / "log").read_text()
        assert "Traceback" not in log
        assert "ERROR" not in log
