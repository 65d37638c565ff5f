"""Clients that misbehave are the front's affair: others are served, and nothing is held."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from restbench.experiment.cell import Shape
from restbench.failures import EnvironmentProblem

from .exchange import Verdict
from .mix import LOW, valid
from .promises import Findings
from .subject import Subject, seconds_until

MARGIN_S = 5.0
"""What a timeout may take beyond what is set."""
HEALTH_WITHIN_S = 1.0
SOME = 24
"""Clients of a kind at once."""
WATCHED_S = 8.0
SETTLED_S = 1.5
"""After so long all have connected, and sent their first byte."""
PROBES_REQUESTS = 4
_RECEIVE_BUFFER_BYTES = 4096
#: A column times a row: little to compute, several MB of answer, far more than sockets buffer.
_BROAD = Shape(rows=1000, inner=1, columns=1000)


@dataclass(frozen=True)
class Client:
    """What a client does on its connection, after which it waits without end."""

    what: str
    at_once: bytes = b""
    slowly: bytes = b""
    """A byte a second."""
    resets: bool = False
    """It closes with a RST at once, in the middle of what it sends or is sent."""


def clients(path: str) -> dict[str, Client]:
    """Every kind by its key, each on the path of a strategy."""
    low, broad = valid("low", LOW).request(1).body, valid("broad", _BROAD).request(1).body
    body = _head(path, f"Content-Length: {len(low)}")
    answer = _head(f"{path}?kernel=native", f"Content-Length: {len(broad)}") + broad
    return {
        "head": Client("1 byte/s of head", body[:30], b"a" * 4000),
        "body": Client("1 byte/s of body", body, low),
        "chunks": Client(
            "1 byte/s in chunks", _head(path, "Transfer-Encoding: chunked"), b"1\r\n \r\n" * 1000
        ),
        "silent": Client("connected, silent"),
        "gone": Client("reset in the body", body + low[:20], resets=True),
        "unread": Client("answer never read", answer),
    }


def _head(path: str, length: str) -> bytes:
    lines = f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json", length
    return "\r\n".join((*lines, "", "")).encode()


@asynccontextmanager
async def crowd(client: Client, number: int, address: tuple[str, int]) -> AsyncIterator[None]:
    """So many of them; all are reset at the end."""
    everyone = [asyncio.create_task(_misbehave(client, address)) for _ in range(number)]
    try:
        yield
    finally:
        for each in everyone:
            each.cancel()
        await asyncio.gather(*everyone, return_exceptions=True)


async def _misbehave(client: Client, address: tuple[str, int]) -> None:
    loop = asyncio.get_running_loop()
    with socket.socket() as connection, contextlib.suppress(OSError):
        connection.setblocking(False)
        # Small, so that an answer that nobody reads soon fills what lies between.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await loop.sock_connect(connection, address)
        await loop.sock_sendall(connection, client.at_once)
        for byte in client.slowly:
            await asyncio.sleep(1)
            await loop.sock_sendall(connection, bytes([byte]))
        if not client.resets:
            await asyncio.Event().wait()


async def endured(subject: Subject, strategy: str) -> Findings:
    """Some of each kind, one kind after the other; then more slow bodies than may be in flight."""
    findings = Findings(f"{subject.name} {strategy}: slow and vanished clients")
    kinds = clients(f"/matrix/{strategy}")
    await subject.normal(strategy)
    for kind in kinds.values():
        await _endure(findings, subject, strategy, kind, SOME)
    return findings


async def _endure(
    findings: Findings, subject: Subject, strategy: str, client: Client, number: int
) -> None:
    began = time.monotonic()
    bound_s = subject.limit("receiveTimeoutSeconds") + MARGIN_S

    async def is_free() -> bool:
        return await subject.in_flight() <= PROBES_REQUESTS

    async with crowd(client, number, subject.address):
        await asyncio.sleep(SETTLED_S)
        probing = subject.probed(strategy, lambda: time.monotonic() < began + WATCHED_S)
        probes, freed_s = await asyncio.gather(probing, seconds_until(is_free, 2 * bound_s))
    findings.within(f"{number} of {client.what}: the service holds none", freed_s, bound_s)
    findings.judge(
        "    normal requests meanwhile",
        "right",
        probes.sentence(),
        bool(probes.ends) and set(probes.counts) == {Verdict.RIGHT},
    )


async def besieged(subject: Subject, strategy: str, number: int, seconds: float) -> Findings:
    """So many clients that send a byte of body a second: /health and others do not notice."""
    findings = Findings(f"{subject.name} {strategy}: {number} clients that send 1 byte/s")
    began = time.monotonic()
    body = clients(f"/matrix/{strategy}")["body"]

    def goes_on() -> bool:
        return time.monotonic() < began + seconds

    async with crowd(body, number, subject.address):
        await asyncio.sleep(SETTLED_S)
        probes, health_s = await asyncio.gather(
            subject.probed(strategy, goes_on), _slowest_health_s(subject, goes_on)
        )
    findings.within("/health answers", health_s, HEALTH_WITHIN_S)
    good = probes.number_of(Verdict.RIGHT, Verdict.REFUSED)
    findings.judge(
        "others are answered",
        "right or 503",
        probes.sentence(),
        bool(probes.ends) and good == len(probes.ends),
    )
    return findings


async def _slowest_health_s(subject: Subject, goes_on: Callable[[], bool]) -> float | None:
    """The longest that /health took through the front, None where it did not answer."""
    slowest = 0.0
    while goes_on():
        began = time.monotonic()
        try:
            await asyncio.to_thread(subject.service.health)
        except EnvironmentProblem:
            return None
        slowest = max(slowest, time.monotonic() - began)
        await asyncio.sleep(0.2)
    return slowest
