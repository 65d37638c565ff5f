"""What a scenario concludes from what it saw."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from restbench_robustness.overload.promises import Findings, broken
from restbench_robustness.overload.slow import Client, clients, crowd
from restbench_robustness.overload.subject import lives, seconds_until


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        yield server


def test_a_promise_about_time_is_broken_when_it_took_longer_or_never_came() -> None:
    findings = Findings("it")
    findings.within("quick", 1.0, 2.0)
    findings.within("slow", 3.0, 2.0)
    findings.within("never", None, 2.0)
    assert [promise.what for promise in broken(findings.promises)] == ["slow", "never"]


def test_a_promise_about_a_peak_is_broken_above_its_bound() -> None:
    findings = Findings("it")
    findings.at_most("below", 5, 5)
    findings.at_most("above", 6, 5)
    assert [promise.what for promise in broken(findings.promises)] == ["above"]


def test_waiting_in_vain_says_so() -> None:
    async def never() -> bool:
        return False

    assert asyncio.run(seconds_until(never, 0.1)) is None
    assert asyncio.run(seconds_until(lambda: True, 0.1)) is not None


def test_a_zombie_does_not_live() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as child:
        process = psutil.Process(child.pid)
        assert asyncio.run(seconds_until(lambda: not lives(process), 60)) is not None


async def meet(client: Client, listener: socket.socket, slowly: int) -> bytes:
    """What a server has of a client after so many bytes one by one; then it is reset."""
    loop = asyncio.get_running_loop()
    async with crowd(client, 1, listener.getsockname()):
        server, _ = await asyncio.to_thread(listener.accept)
        server.setblocking(False)
        wanted, got = len(client.at_once) + slowly, b""
        while len(got) < wanted:
            got += await loop.sock_recv(server, wanted - len(got))
    with server, contextlib.suppress(ConnectionResetError):
        assert await loop.sock_recv(server, 100) != b""  # a RST, no end
    return got


def test_a_slow_client_sends_its_head_at_once_and_its_body_by_bytes(
    listener: socket.socket,
) -> None:
    client = clients("/matrix/serial")["body"]
    got = asyncio.run(meet(client, listener, slowly=2))
    assert got.startswith(b"POST /matrix/serial HTTP/1.1\r\n")
    assert got.endswith(b'\r\n\r\n{"')


def test_a_client_that_never_reads_stops_a_server_that_writes(listener: socket.socket) -> None:
    async def write() -> None:
        async with crowd(clients("/x")["silent"], 1, listener.getsockname()):
            server, _ = await asyncio.to_thread(listener.accept)
            with server, pytest.raises(TimeoutError):
                server.settimeout(0.5)
                await asyncio.to_thread(server.sendall, bytes(16_000_000))

    asyncio.run(write())
