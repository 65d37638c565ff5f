"""The limits of the body's size, where its length is not told or not true."""

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_service import JSON, LiveService, running

LIMIT_BYTES = 1000
GOOD = json.dumps(
    {
        "requestId": 1,
        "matrixOne": {"columnCount": 1, "rows": [{"value": "2"}]},
        "matrixTwo": {"columnCount": 1, "rows": [{"value": "3"}]},
    }
).encode()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    log: Path = tmp_path_factory.mktemp("limits") / "log"
    with running(log, MAX_BODY_BYTES=str(LIMIT_BYTES), PROCESSES="1") as live:
        yield live


def chunked(service: LiveService, body: bytes) -> tuple[int, bytes]:
    pieces = (body[start : start + 100] for start in range(0, len(body), 100))
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
    try:
        connection.request("POST", "/matrix/serial", pieces, JSON, encode_chunked=True)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def padded(length: int) -> bytes:
    return GOOD + b" " * (length - len(GOOD))


def test_a_body_of_exactly_the_limit_is_served(service: LiveService) -> None:
    assert service.request("POST", "/matrix/serial", padded(LIMIT_BYTES)).status == 200


def test_a_body_one_byte_above_the_limit_is_refused(service: LiveService) -> None:
    assert service.request("POST", "/matrix/serial", padded(LIMIT_BYTES + 1)).status == 413


def test_a_chunked_body_of_exactly_the_limit_is_served_whole(service: LiveService) -> None:
    status, answer = chunked(service, padded(LIMIT_BYTES))
    assert (status, answer) == (200, b'{"requestId":"1","rows":[[6]]}')


@pytest.mark.parametrize("excess", [1, 200, 100_000])
def test_a_chunked_body_above_the_limit_is_refused_and_not_cut(
    service: LiveService, excess: int
) -> None:
    status, answer = chunked(service, padded(LIMIT_BYTES + excess))
    assert (status, json.loads(answer)["errorCode"]) == (413, "007")


def test_a_declared_length_above_the_limit_is_refused_before_the_body_is_sent(
    service: LiveService,
) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=120) as client:
        head = "POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        client.sendall(f"{head}Content-Length: 1000000000000\r\n\r\n".encode())
        assert client.recv(12) == b"HTTP/1.1 413"


def test_a_connection_is_good_for_the_next_request_after_a_small_refused_body(
    service: LiveService,
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
    for path, status in [("/matrix/no-such", 404), ("/matrix/serial", 200)]:
        connection.request("POST", path, GOOD, JSON)
        response = connection.getresponse()
        response.read()
        assert response.status == status
    connection.close()
