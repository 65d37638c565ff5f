"""The relay that is a network's delay where the kernel has none."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from threading import Thread

import pytest
from ports import free_port
from waiting import PATIENCE_S, await_true

from restbench.drive import relay

HOST = "127.0.0.1"
DELAY_MS = 30
#: A user has two descriptors in the relay, of which `select` takes 1024.
MANY = 600
#: More than a socket holds, so that it comes in many pieces.
LONG = bytes(range(256)) * 16_000
#: Far more than the kernel's buffers hold.
MUCH = 64 * len(LONG)


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

    # As most shells have it: 1024 descriptors, of which more can be had.
    line = ["prlimit", "--nofile=1024:", *relay.command((HOST, own), (HOST, port), DELAY_MS)]
    with subprocess.Popen(line) as running:
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


def test_a_wait_is_no_longer_than_it_is_to_be_by_a_millisecond() -> None:
    """One of some, for a busy machine makes others longer."""
    taken_s: list[float] = []

    def is_short() -> bool:
        begun = time.monotonic()
        selector.select(0.0002)
        taken_s.append(time.monotonic() - begun)
        return taken_s[-1] < 0.001

    with closing(relay._Precise()) as selector:
        assert await_true(is_short)
    assert min(taken_s) >= 0.0002


def test_more_users_than_select_takes_are_all_carried() -> None:
    with (
        socket.create_server((HOST, 0), backlog=MANY) as listener,
        relayed_to(listener.getsockname()[1]) as first,
        ExitStack() as users,
    ):
        listener.settimeout(PATIENCE_S)
        place = first.getpeername()
        others = [users.enter_context(socket.create_connection(place)) for _ in range(MANY - 1)]
        for each in (first, *others):
            each.sendall(b"x")
        for _ in range(MANY):
            with closing(listener.accept()[0]) as came:
                came.settimeout(PATIENCE_S)
                assert came.recv(1) == b"x"


def test_who_does_not_read_is_sent_no_more_than_buffers_hold() -> None:
    """The relay holds none of it: the sender waits."""
    with (
        socket.create_server((HOST, 0)) as listener,
        relayed_to(listener.getsockname()[1]) as client,
        closing(listener.accept()[0]),
    ):
        client.settimeout(1)
        sent = 0
        with suppress(TimeoutError):
            while sent < MUCH:
                sent += client.send(LONG)
        assert sent < MUCH
