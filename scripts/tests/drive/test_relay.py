"""The relay that is a network's delay where the kernel has none."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from threading import Thread

import pytest
from ports import free_port
from waiting import PATIENCE_S, await_true

from restbench.drive import relay

HOST = "127.0.0.1"
DELAY_MS = 30
#: More than a socket holds, so that it comes in many pieces.
LONG = bytes(range(256)) * 16_000


def echo(listener: socket.socket) -> None:
    """To its end what one client sends."""
    with closing(listener.accept()[0]) as client:
        while piece := client.recv(1 << 16):
            client.sendall(piece)


@contextmanager
def relayed_to(port: int) -> Iterator[socket.socket]:
    """A client of a relay before this port, connected."""
    own = free_port()
    clients: list[socket.socket] = []

    def connects() -> bool:
        with suppress(ConnectionRefusedError):
            clients.append(socket.create_connection((HOST, own), timeout=PATIENCE_S))
        return bool(clients)

    with subprocess.Popen(relay.command((HOST, own), (HOST, port), DELAY_MS)) as running:
        try:
            assert await_true(connects)
            with closing(clients[0]):
                yield clients[0]
        finally:
            running.kill()


@pytest.fixture
def client() -> Iterator[socket.socket]:
    """Of an echo."""
    with socket.create_server((HOST, 0)) as listener:
        Thread(target=echo, args=(listener,), daemon=True).start()
        with relayed_to(listener.getsockname()[1]) as found:
            yield found


def test_each_direction_comes_later(client: socket.socket) -> None:
    for _ in range(3):
        begun = time.monotonic()
        client.sendall(b"ping")
        assert client.recv(4) == b"ping"
        assert time.monotonic() - begun >= 2 * DELAY_MS / 1000


def test_all_that_is_sent_comes_in_its_order_and_then_the_end(client: socket.socket) -> None:
    def send() -> None:
        client.sendall(LONG)
        client.shutdown(socket.SHUT_WR)

    Thread(target=send, daemon=True).start()
    found = bytearray()
    while piece := client.recv(1 << 16):
        found += piece
    assert bytes(found) == LONG


def test_where_nobody_listens_the_connection_ends() -> None:
    with relayed_to(free_port()) as client:
        assert client.recv(1) == b""
