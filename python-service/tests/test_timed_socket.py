"""When receiving from a client ends, and how much is sent to one without waiting."""

import socket
import threading
from collections.abc import Iterator

import pytest

from restbench_service.server import timed_socket
from restbench_service.server.timed_socket import TimedSocket

TIMEOUT_SECONDS = 10.0


@pytest.fixture
def client() -> Iterator[tuple[TimedSocket, socket.socket]]:
    """Our end and the client's."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield TimedSocket(ours, 1.0), theirs


@pytest.mark.parametrize(("elapsed", "is_late"), [(0.9, False), (1.9, False), (2.1, True)])
def test_what_has_come_is_taken_late_but_not_without_end(
    client: tuple[TimedSocket, socket.socket],
    elapsed: float,
    is_late: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sock, theirs = client
    theirs.send(b"more")
    monkeypatch.setattr(timed_socket, "monotonic", lambda: 0.0)
    sock.receive_within(TIMEOUT_SECONDS)
    monkeypatch.setattr(timed_socket, "monotonic", lambda: elapsed * TIMEOUT_SECONDS)
    if is_late:
        with pytest.raises(TimeoutError, match="RECEIVE_TIMEOUT"):
            sock.recv(100)
    else:
        assert sock.recv(100) == b"more"


def test_nothing_that_comes_soon_is_no_end_of_the_connection(
    client: tuple[TimedSocket, socket.socket],
) -> None:
    sock, theirs = client
    for seconds in (0.0, 0.01):
        with pytest.raises(BlockingIOError):
            sock.receive_soon(100, seconds)
    theirs.send(b"soon")
    assert sock.receive_soon(100, 60.0) == b"soon"
    theirs.close()
    assert sock.receive_soon(100, 60.0) == b""


def test_what_the_client_does_not_take_at_once_is_sent_when_it_does(
    client: tuple[TimedSocket, socket.socket],
) -> None:
    sock, theirs = client
    data, received = b"x" * 5_000_000, bytearray()  # far more than the kernel's buffers take

    def take() -> None:
        while len(received) < len(data):
            received.extend(theirs.recv(65536))

    taker = threading.Timer(0.1, take)
    taker.start()
    TimedSocket(sock._connection, 60.0).sendall(data)
    taker.join()
    assert received == data


def test_a_client_that_takes_nothing_more_is_late(
    client: tuple[TimedSocket, socket.socket],
) -> None:
    sock, _ = client
    with pytest.raises(TimeoutError, match="SEND_TIMEOUT"):
        sock.sendall(b"x" * 5_000_000)
