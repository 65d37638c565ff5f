"""When receiving from a client ends."""

import socket
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
