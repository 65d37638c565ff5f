"""Far more than the service can take: each answer is right or 503, and none is cut off."""

import http.client
import json
import math
import select
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from live_metrics import metric
from live_service import (
    DEADLINE_SECONDS,
    JSON,
    STRATEGIES,
    LiveService,
    running,
    wait_until,
)
from raw_client import answer_of, connected, everything, post_head
from test_killed_processes import SMALL, matrices, post

from restbench_service.server.waiting_room import IDLE_SECONDS

LIMITS = {
    "MAX_IN_FLIGHT": "4",
    "MAX_CONNECTIONS": "40",
    "MEMORY_BUDGET_BYTES": "2000000",
    "RECEIVE_TIMEOUT_SECONDS": "300",  # none of these is slow, however busy the machine
}
LARGE = matrices(2000, 50, 20, "large")  # 0.2 MB, of which a socket's buffers do not hold all
USERS = 80  # twice the connections, twenty times the requests in flight
SECONDS = 3.0
CLOSED_AS_IDLE = "closed as idle"  # a user on a busy machine can come too late for his connection


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    log: Path = tmp_path_factory.mktemp("overload") / "log"
    with running(log, PROCESSES="1", MAX_BODY_BYTES="1900000", **LIMITS) as live:
        yield live


def use(service: LiveService, strategy: str, until: float) -> Counter[str]:
    """One user, who asks again and again on connections of his own."""
    seen: Counter[str] = Counter()
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=DEADLINE_SECONDS)
    while time.monotonic() < until:
        request, answer = LARGE if sum(seen.values()) % 3 else SMALL
        if connection.sock is None:
            used = math.inf
        sent = None
        try:
            connection.request("POST", f"/matrix/{strategy}?kernel=native", request, JSON)
            sent = time.monotonic()
            response = connection.getresponse()
        except ConnectionError:
            idle_seconds = (sent or time.monotonic()) - used
            seen[CLOSED_AS_IDLE if idle_seconds > 0.9 * IDLE_SECONDS else "cut off"] += 1
            connection.close()
            continue
        seen[judged(response.status, response.headers, response.read(), answer)] += 1
        used = time.monotonic()
    connection.close()
    return seen


def judged(status: int, headers: http.client.HTTPMessage, body: bytes, answer: bytes) -> str:
    if status == 503:
        is_right = headers["Retry-After"] == "1" and json.loads(body)["errorCode"] == "008"
    else:
        is_right = status == 200 and body == answer
    return str(status) if is_right else f"wrong: {status} {body[:100]!r}"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_twenty_times_too_many_users_get_right_answers_or_503(
    service: LiveService, strategy: str
) -> None:
    until = time.monotonic() + SECONDS
    with ThreadPoolExecutor(USERS) as users:
        found = users.map(lambda _: use(service, strategy, until), range(USERS))
        seen = sum(found, Counter())
    assert set(seen) - {CLOSED_AS_IDLE} == {"200", "503"}
    recovered(service, strategy)


def recovered(service: LiveService, strategy: str) -> None:
    wait_until(lambda: metric(service, "restbench_connections").get("") == 1)
    assert all(post(service, strategy, SMALL[0]).body == SMALL[1] for _ in range(20))
    # not at once: an answer is let go when it has been sent, and its client may be quicker
    wait_until(lambda: metric(service, "restbench_memory_held_bytes")[""] == 0)
    assert metric(service, "restbench_requests_in_flight")[""] == 0
    wait_until(lambda: metric(service, "restbench_connections")[""] == 1)


def test_bodies_beyond_the_memory_budget_are_refused_and_the_budget_named(
    service: LiveService,
) -> None:
    with ExitStack() as clients:
        for _ in range(3):  # of 4 in flight: it is the memory that does not suffice
            client = clients.enter_context(connected(service.port))
            client.sendall(post_head(1_000_000) + b" " * 600_000)
        wait_until(lambda: metric(service, "restbench_memory_held_bytes")[""] == 2_000_000)
        refused = post(service, "serial", SMALL[0])
        assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
        assert json.loads(refused.body)["errorCode"] == "008"
        assert b"RESTBENCH_MEMORY_BUDGET_BYTES" in refused.body
    recovered(service, "serial")


def used(client: socket.socket) -> socket.socket:
    client.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer_of(client).status == 200
    return client


def test_a_connection_too_many_displaces_the_one_idle_longest(service: LiveService) -> None:
    with ExitStack() as clients:
        idle = [used(clients.enter_context(connected(service.port)))]
        time.sleep(1)  # its thread may give it back later than those of the next ones
        idle += [used(clients.enter_context(connected(service.port))) for _ in range(36)]
        time.sleep(2.5)  # a connection used just now would not be taken for idle
        for _ in range(6):  # some of the places left may still be those of a test before
            used(clients.enter_context(connected(service.port)))
        closed = [place for place, each in enumerate(idle) if select.select([each], [], [], 0)[0]]
        assert closed[:1] == [0]
        assert max(closed) < len(idle) // 2  # in the order in which their threads gave them back
        assert used(idle[-1])
        assert metric(service, "restbench_connections")[""] <= 40


def test_a_connection_too_many_is_told_so_where_none_is_idle(service: LiveService) -> None:
    recovered(service, "serial")
    with ExitStack() as clients:
        for _ in range(40):
            clients.enter_context(connected(service.port)).sendall(b"GET")
        answer = everything(clients.enter_context(connected(service.port)))
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: 1" in answer and b"RESTBENCH_MAX_CONNECTIONS" in answer
    recovered(service, "serial")


def test_a_refused_sender_of_a_long_body_reads_the_refusal(service: LiveService) -> None:
    body = b" " * 1_500_000
    with ExitStack() as clients:
        for _ in range(4):
            clients.enter_context(connected(service.port)).sendall(post_head(10))
        wait_until(lambda: metric(service, "restbench_requests_in_flight")[""] == 4)
        client = clients.enter_context(connected(service.port))
        for _ in range(2):  # the connection stays good: the body was read to its end
            sender = threading.Thread(target=client.sendall, args=(post_head(len(body)) + body,))
            sender.start()
            sender.join(60)
            assert answer_of(client).status == 503
