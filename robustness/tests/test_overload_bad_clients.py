"""Each bad client does what its name says: a service that bears it has borne the real thing."""

from __future__ import annotations

import fcntl
import socket
import struct
import time
from collections.abc import Iterator

import pytest

from restbench_robustness.overload import bad_clients
from restbench_robustness.overload.bad_clients import Client

PATH = "/matrix/serial"
#: <linux/sockios.h> SIOCOUTQ: bytes that were sent and not acknowledged.
UNACKNOWLEDGED = 0x5411


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def accepted(listener: socket.socket) -> socket.socket:
    connection, _ = listener.accept()
    connection.settimeout(60)
    return connection


def unacknowledged(connection: socket.socket) -> int:
    told = fcntl.ioctl(connection.fileno(), UNACKNOWLEDGED, b"\0" * 4)
    return int(struct.unpack("i", told)[0])


def test_a_slow_sender_sends_one_byte_each_time_it_is_told_to(listener: socket.socket) -> None:
    client = bad_clients.slow_body(listener.getsockname(), PATH)
    with accepted(listener) as server:
        head = server.recv(1 << 16)
        assert head.endswith(b"\r\n\r\n")
        assert b"Content-Length: " in head
        for byte in (b"{", b'"', b"r"):
            client.send_one_byte()
            assert server.recv(1 << 16) == byte
    client.reset()


def test_a_slow_head_never_ends(listener: socket.socket) -> None:
    client = bad_clients.slow_head(listener.getsockname(), PATH)
    with accepted(listener) as server:
        assert server.recv(1 << 16) == f"POST {PATH} HTTP/1.1\r\n".encode()
        for _ in range(12):
            client.send_one_byte()
        time.sleep(0.1)
        assert b"\r\n" not in server.recv(1 << 16)
    client.reset()


def test_a_deaf_client_acknowledges_nothing_and_says_no_farewell(listener: socket.socket) -> None:
    client = Client(listener.getsockname(), b"x")
    with accepted(listener) as server:
        assert server.recv(10) == b"x"
        client.fall_deaf()
        server.send(b"hello")
        time.sleep(0.3)
        assert unacknowledged(server) == 5
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.recv(10)
    client.reset()


def test_a_client_that_never_reads_stops_a_server_that_writes(listener: socket.socket) -> None:
    client = bad_clients.never_reading(listener.getsockname(), PATH)
    with accepted(listener) as server:
        server.settimeout(0.5)
        with pytest.raises(TimeoutError):
            server.sendall(bytes(16_000_000))
    client.reset()


def test_a_client_that_resets_is_an_error_to_its_server(listener: socket.socket) -> None:
    client = Client(listener.getsockname(), b"")
    with accepted(listener) as server:
        client.reset()
        with pytest.raises(ConnectionResetError):
            server.recv(10)


def test_a_crowd_leaves_no_connection_behind(listener: socket.socket) -> None:
    with bad_clients.crowd(bad_clients.silent, 5, listener.getsockname(), PATH) as clients:
        servers = [accepted(listener) for _ in clients]
    for server in servers:
        with pytest.raises(ConnectionResetError):
            server.recv(10)
        server.close()
