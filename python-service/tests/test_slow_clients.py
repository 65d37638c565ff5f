"""Clients that send slowly, or not, or do not read: what they hold is theirs for a time only."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from live_metrics import in_flight, metric
from live_service import LiveService, running, wait_until
from raw_client import HEAD, answer_of, connected, everything, post_head, trickle
from test_killed_processes import SMALL, matrices, post

TIMEOUT_SECONDS = 2
SEND_TIMEOUT_SECONDS = 5  # long enough to be looked at meanwhile
KEEP_ALIVE_SECONDS = 4
FAR_LATER_SECONDS = 40  # than the timeout, on whatever machine; the senders would take a minute
THREADS = 2 + 32  # in flight and to spare


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    log: Path = tmp_path_factory.mktemp("slow") / "log"
    seconds = {
        "RECEIVE_TIMEOUT_SECONDS": str(TIMEOUT_SECONDS),
        "SEND_TIMEOUT_SECONDS": str(SEND_TIMEOUT_SECONDS),
        "KEEP_ALIVE_SECONDS": str(KEEP_ALIVE_SECONDS),
    }
    with running(log, PROCESSES="1", MAX_IN_FLIGHT="2", **seconds) as live:
        yield live
        assert "Traceback" not in log.read_text()


def held(service: LiveService) -> float:
    return metric(service, "restbench_memory_held_bytes")[""]


def connections(service: LiveService) -> float:
    """Open ones, without that of the question."""
    return metric(service, "restbench_connections")[""] - 1


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("at_once", "slowly"),
    [
        (b"", b"GET /health HTTP/1.1\r\nX-Slow: " + b"x" * 1000),
        (post_head(1000), b" " * 1000),
        (CHUNKED, b"3e8\r\n" + b" " * 1000),
        (CHUNKED, b"1\r\n \r\n" * 200),
    ],
    ids=["head", "body", "chunk", "chunks"],
)
def test_a_request_that_trickles_in_is_given_up_in_time(
    service: LiveService, at_once: bytes, slowly: bytes
) -> None:
    began = time.monotonic()
    with connected(service.port) as client:
        client.sendall(at_once)
        trickle(client, slowly, 0.05)
        assert TIMEOUT_SECONDS - 0.1 <= time.monotonic() - began < FAR_LATER_SECONDS
        answer = everything(client)
        assert answer == b"" or (answer.startswith(b"HTTP/1.1 400 ") and b'"002"' in answer)
    wait_until(lambda: (in_flight(service), held(service), connections(service)) == (0, 0, 0))


@pytest.mark.parametrize("bad", [b"xyz\r\n", b"1\r\n ab\r\n", b"1\r\n"], ids=["size", "end", "cut"])
@pytest.mark.parametrize("path", [b"/nowhere/x", b"/matrix/serial?kernel=none"])
def test_a_bad_body_after_the_response_gets_no_second_one(
    service: LiveService, path: bytes, bad: bytes
) -> None:
    with connected(service.port) as client:
        client.sendall(CHUNKED.replace(b"/matrix/serial", path) + bad)
        client.shutdown(socket.SHUT_WR)
        assert everything(client).count(b"HTTP/1.1 ") == 1


def test_a_body_that_stops_coming_is_answered_with_002(service: LiveService) -> None:
    with connected(service.port) as client:
        client.sendall(post_head(1000) + b"{")
        answer = everything(client)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"could not be received in time (RESTBENCH_RECEIVE_TIMEOUT_SECONDS)" in answer


def test_a_sender_who_is_slow_but_in_time_is_served(service: LiveService) -> None:
    with connected(service.port) as client:
        client.sendall(post_head(len(SMALL[0])))
        for start in range(0, len(SMALL[0]), 100):
            client.sendall(SMALL[0][start : start + 100])
            time.sleep(0.05)
        assert answer_of(client).body == SMALL[1]


@pytest.mark.parametrize("sent", [b"", b"GET /health HT"], ids=["nothing", "part of a head"])
def test_a_connection_that_says_nothing_more_is_closed(service: LiveService, sent: bytes) -> None:
    began = time.monotonic()
    with connected(service.port) as client:
        client.sendall(sent)
        everything(client)
        assert TIMEOUT_SECONDS - 0.1 <= time.monotonic() - began < FAR_LATER_SECONDS


def test_an_idle_connection_is_closed_after_its_time_and_not_before(service: LiveService) -> None:
    with connected(service.port) as client:
        for _ in range(KEEP_ALIVE_SECONDS + 1):
            began = time.monotonic()
            client.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert answer_of(client).status == 200
            time.sleep(1)
        assert everything(client) == b""
        assert KEEP_ALIVE_SECONDS - 0.1 <= time.monotonic() - began < FAR_LATER_SECONDS


def test_more_slow_senders_than_threads_do_not_keep_others_waiting(service: LiveService) -> None:
    with ExitStack() as clients:
        for number in range(3 * THREADS):
            client = clients.enter_context(connected(service.port))
            client.sendall(post_head(1000) if number % 2 else CHUNKED)
        for _ in range(20):
            began = time.monotonic()
            answer = post(service, "serial", SMALL[0])
            assert answer.status in (200, 503)
            assert answer.status == 200 or answer.headers["Retry-After"] == "1"
            assert service.request("GET", "/health").status in (200, 503)
            assert time.monotonic() - began < FAR_LATER_SECONDS
        wait_until(lambda: post(service, "serial", SMALL[0]).body == SMALL[1])
    wait_until(lambda: (in_flight(service), held(service), connections(service)) == (0, 0, 0))


def test_an_answer_that_is_not_taken_is_dropped_in_time(service: LiveService) -> None:
    request, answer = matrices(3000, 1, 1000, "long")  # 6 MB: more than the kernel's buffers take
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", service.port))
        client.sendall(
            post_head(len(request)).replace(b"serial", b"serial?kernel=native") + request
        )
        wait_until(lambda: held(service) > len(answer))
        wait_until(lambda: in_flight(service) == 0)
        wait_until(lambda: held(service) == 0)
    wait_until(lambda: connections(service) == 0)


def test_a_client_that_vanishes_amid_its_answer_leaves_nothing(service: LiveService) -> None:
    request, answer = matrices(3000, 1, 1000, "long")
    head = post_head(len(request)).replace(b"serial", b"process-per-request?kernel=native")
    with connected(service.port) as client:
        client.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
        )  # reset at close
        client.sendall(head + request)
        wait_until(lambda: held(service) > len(answer))
    wait_until(lambda: (held(service), connections(service)) == (0, 0))
    assert post(service, "serial", SMALL[0]).body == SMALL[1]


def test_slow_senders_leave_no_error_in_the_log(service: LiveService) -> None:
    assert "ERROR" not in service.log.read_text()
