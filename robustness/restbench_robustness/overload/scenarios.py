"""Scenarios that press a service, and their promises: a flood, slow clients, kill -9, a stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from restbench.experiment.cell import Shape
from restbench.failures import EnvironmentProblem
from restbench.machine.process import is_alive

from ..wire import Message, Route
from .load import LOW, Load, Verdict, overload_mix, valid
from .promises import Findings
from .subject import Subject, back_after, seconds_until, summed, until

LONG_S = 30.0
"""Seconds to watch for an event that is overdue, so that its time can be reported."""
MARGIN_S = 5.0
"""Seconds by which an event may exceed the configured timeout."""
# A flood.
CAPACITY_CONNECTIONS = 8
"""Connections that keep a service busy."""
CAPACITY_S = 4.0
"""Seconds for which the capacity of the service is measured."""
LEAST_CONNECTIONS = 10 * CAPACITY_CONNECTIONS
"""Minimum number of connections that overload the service."""
BACK_WITHIN_S = 5.0
IN_A_ROW = 20
# Slow clients.
HEALTH_WITHIN_S = 1.0
SOME = 24
"""Number of misbehaving clients of one kind at once."""
WATCHED_S = 8.0
SETTLED_S = 1.5
"""Seconds after which all clients have connected and sent their first byte."""
PROBES_REQUESTS = 4
"""Normal requests of the probes that may be in flight at once."""
UNFINISHED = "a request is kept from the service until its body is whole"
RECEIVE_BUFFER_BYTES = 4096
#: A column times a row: little work, but an answer of several MB, far more than sockets buffer.
BROAD = Shape(rows=1000, inner=1, columns=1000)
# Kills.
POOLS = {
    "process-per-request": "PR-",
    "process-per-element": "PE-",
    "executor-per-request": "ER-",
    "executor-per-element": "EE-",
    "adaptive": "F1-",
}
"""The process pools of the Python service, by strategy: the prefix of their processes' names."""
#: Long enough for the low-priority pool of adaptive, with a body that adaptive decodes at once.
WORK_OF_KILLS = {"adaptive": Shape(rows=150, inner=25, columns=150)}
USERS = 10
"""Users that send requests without a pause during the kills."""
ANSWERED_WITHIN_S = 2.0
WHOLE_WITHIN_S = 5.0
BETWEEN_KILLS_S = (0.3, 1.0)
"""Bounds of the random pause before a kill, in seconds: the load runs on a whole pool meanwhile."""
TIMEOUT_S = 30.0
MEMORY = Path("/dev/shm")  # noqa: S108 - looked at, not used
OURS = ("psm_", "pymp", "sem.", "restbench")
"""Prefixes of the files that Python's multiprocessing and the service create in MEMORY."""
# A stop.
#: Each takes a good part of a second, so that the requests are in flight when the signal comes.
LONG = {
    "java": Shape(rows=500, inner=500, columns=500),
    "python": Shape(rows=600, inner=200, columns=50),
}
REQUESTS = 4
SLOW_SENDERS = 3
ANSWER_S = 120.0
SIGNALS = (signal.SIGTERM, signal.SIGTERM, signal.SIGINT)
"""Signals in order: the first one stops the service, the others must have no effect."""
CODES = (0, 128 + signal.SIGTERM)
"""Exit codes of an orderly end; that of a JVM reports the signal TERM."""


@dataclass(frozen=True)
class Force:
    """Parameters of the load. The same seed gives the same requests, victims and pauses."""

    seconds: float
    connections: int
    kills: int
    seed: int


async def overloaded(subject: Subject, strategy: str, force: Force) -> Findings:
    """Overload the service: at least ten times the connections that keep it busy, without pauses.

    Answers stay right or are refusals, and the service recovers within a bounded time.
    """
    findings = Findings(f"{subject.name} {strategy}: overload")
    await subject.normal(strategy)
    processes = len(subject.names())
    address, path, kinds = subject.service.address, f"/matrix/{strategy}", overload_mix(strategy)
    usual = Load(address, path, kinds, CAPACITY_CONNECTIONS, 60.0, force.seed)
    for _ in range(2):  # the second counts: a fresh JVM reaches a tenth of its capacity
        capacity = await asyncio.to_thread(usual.run, CAPACITY_S)
    # A request may wait for those of all connections, in queues of the kernel or the service.
    queue_s = force.connections / max(capacity.per_s, 1)
    flood = Load(address, path, kinds, force.connections, 10 + 3 * queue_s, force.seed)
    over = asyncio.Event()
    probing = asyncio.create_task(subject.probed(strategy, lambda: not over.is_set()))
    outcome = await asyncio.to_thread(flood.run, force.seconds)
    over_s = time.monotonic()
    row = [(await subject.normal(strategy, number)).verdict for number in range(IN_A_ROW)]
    over.set()
    findings.judge(
        "every answer right, or 503 with 008 and Retry-After",
        f"all, each within {flood.timeout_s:.0f} s",
        str(outcome),
        outcome.only(Verdict.RIGHT, Verdict.REFUSED),
    )
    back_s, bound_s = back_after(over_s, await probing), max(BACK_WITHIN_S, 1.5 * queue_s)
    findings.within("normal requests are right again", back_s, bound_s)
    right = row.count(Verdict.RIGHT)
    findings.judge("and so are the next", f"{IN_A_ROW} in a row", f"{right}", right == IN_A_ROW)

    idle_s = await seconds_until(lambda: subject.hears_of_at_most(0), LONG_S)
    findings.within("nothing in flight", idle_s, BACK_WITHIN_S)
    findings.at_most("processes afterwards", len(subject.names()), processes)
    findings.at_most("zombies afterwards", subject.zombies(), 0)
    return findings


@dataclass(frozen=True)
class Client:
    """The behaviour of a misbehaving client on its connection. At the end it waits forever."""

    what: str
    at_once: bytes = b""
    slowly: bytes = b""
    """Data that is sent after `at_once`, at one byte per second."""
    resets: bool = False
    """Whether the client resets the connection (RST) as soon as it has sent its data."""


def clients(path: str) -> dict[str, Client]:
    """All kinds of misbehaving clients by key; `path` is that of a strategy."""
    low = Message(valid(LOW).body(1), path=path, query="")
    broad = Message(valid(BROAD).body(1), path=path, query="kernel=native")
    chunked, long = replace(low, chunk_bytes=0), replace(low, missing_bytes=1_000_000)
    head, chunks, begun, unread = (
        it.head(Route("", ""), "x") for it in (low, chunked, long, broad)
    )
    return {
        "head": Client("1 byte/s of head", head[:30], b"a" * 4000),
        "body": Client("1 byte/s of body", head, low.body),
        "chunks": Client("1 byte/s in chunks", chunks, b"1\r\n \r\n" * 1000),
        "silent": Client("connected, silent"),
        "begun": Client("silence behind 64 KiB of body", begun + b" " * (64 << 10)),
        "gone": Client("reset in the body", head + low.body[:20], resets=True),
        "unread": Client("answer never read", unread + broad.body),
    }


@asynccontextmanager
async def crowd(client: Client, number: int, address: tuple[str, int]) -> AsyncIterator[None]:
    """Run `number` clients of one kind; at the end all connections are reset."""
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
        # A small buffer, so that an answer that is not read soon fills the buffers in between.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await loop.sock_connect(connection, address)
        await loop.sock_sendall(connection, client.at_once)
        for byte in client.slowly:
            await asyncio.sleep(1)
            await loop.sock_sendall(connection, bytes([byte]))
        if not client.resets:
            await asyncio.Event().wait()


async def endured(subject: Subject, strategy: str) -> Findings:
    """Run misbehaving clients, one kind after the other. The service releases each within its
    receive timeout, and the front does not pass on a request before its body is whole."""
    findings = Findings(f"{subject.name} {strategy}: slow and vanished clients")
    bound_s = subject.limit("receiveTimeoutSeconds") + MARGIN_S
    is_free = partial(subject.hears_of_at_most, PROBES_REQUESTS)
    await subject.normal(strategy)
    for client in clients(f"/matrix/{strategy}").values():
        goes_on = until(WATCHED_S)
        async with crowd(client, SOME, subject.service.address):
            await asyncio.sleep(SETTLED_S)
            ends, freed_s = await asyncio.gather(
                subject.probed(strategy, goes_on), seconds_until(is_free, 2 * bound_s)
            )
        findings.within(f"{SOME} of {client.what}: the service holds none", freed_s, bound_s)
        probes = summed(ends)
        meanwhile = probes.only(Verdict.RIGHT)
        findings.judge("    normal requests meanwhile", "right", str(probes), meanwhile)
    await seconds_until(lambda: subject.hears_of_at_most(0), bound_s)
    async with crowd(clients(f"/matrix/{strategy}")["begun"], 1, subject.service.address):
        await asyncio.sleep(SETTLED_S)
        heard_of = await subject.in_flight()
    seen = f"{heard_of:.0f} in flight"
    findings.judge(UNFINISHED, "0 in flight", seen, heard_of == 0)
    return findings


async def besieged(subject: Subject, strategy: str, number: int, seconds: float) -> Findings:
    """Run many clients that send one byte of body per second: /health and others are answered."""
    findings = Findings(f"{subject.name} {strategy}: {number} clients that send 1 byte/s")
    body, goes_on = clients(f"/matrix/{strategy}")["body"], until(seconds)
    async with crowd(body, number, subject.service.address):
        await asyncio.sleep(SETTLED_S)
        ends, health_s = await asyncio.gather(
            subject.probed(strategy, goes_on), _slowest_health_s(subject, goes_on)
        )
    probes = summed(ends)
    good = probes.only(Verdict.RIGHT, Verdict.REFUSED)
    findings.within("/health answers", health_s, HEALTH_WITHIN_S)
    findings.judge("others are answered", "right or 503", str(probes), good)
    return findings


async def _slowest_health_s(subject: Subject, goes_on: Callable[[], bool]) -> float | None:
    """The longest time of /health through the front in seconds; None where it did not answer."""
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


async def pool_killed(subject: Subject, strategy: str, force: Force) -> Findings:
    """Kill random processes of a pool with SIGKILL: only the requests that ran on them fail."""
    findings = Findings(f"{subject.name} {strategy}: kill -9 of {force.kills} pool processes")
    await subject.normal(strategy)
    before, left = subject.names(), _left()
    chance = random.Random(force.seed)  # noqa: S311 - chooses victims, no secret
    whole: list[float | None] = []
    path = f"/matrix/{strategy}"
    kind = valid(WORK_OF_KILLS.get(strategy, LOW))
    load = Load(subject.service.address, path, [kind], USERS, TIMEOUT_S, force.seed)
    with load.running() as ended:
        for _ in range(force.kills):
            await asyncio.sleep(chance.uniform(*BETWEEN_KILLS_S))
            pool = [pid for pid, it in subject.names().items() if it.startswith(POOLS[strategy])]
            if not pool:  # it has not recovered from the last kill
                whole.append(None)
                break
            victim = chance.choice(pool)
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
            is_whole = partial(_is_whole, subject, victim, before)
            whole.append(await seconds_until(is_whole, LONG_S))
        outcome = await asyncio.to_thread(ended)
    good = outcome.only(Verdict.RIGHT, Verdict.FAULT, Verdict.REFUSED)
    findings.judge("every answer right, 099 or 503", "all", str(outcome), good)
    findings.within("the slowest answer", outcome.slowest_s, ANSWERED_WITHIN_S)
    slowest = None if None in whole else max(each or 0 for each in whole)
    findings.within("the pool whole again after each kill", slowest, WHOLE_WITHIN_S)
    await seconds_until(lambda: subject.zombies() == 0 and _left() <= left, WHOLE_WITHIN_S)
    findings.at_most("zombies", subject.zombies(), 0)
    findings.at_most("processes", len(subject.names()), len(before))
    findings.at_most("more files in /dev/shm", max(0, _left() - left), 0)
    return findings


def _is_whole(subject: Subject, victim: int, before: dict[int, str]) -> bool:
    """Whether as many processes of each name run as before, and the killed one has gone."""
    now = subject.names()
    return victim not in now and sorted(now.values()) == sorted(before.values())


def _left() -> int:
    """Number of files in MEMORY with a prefix of OURS. Their names differ between two pools of the
    same size, so only the number is compared."""
    return sum(path.name.startswith(OURS) for path in MEMORY.iterdir())


async def stopped(subject: Subject, strategy: str) -> Findings:
    """Stop a service with long requests in flight and slow senders at its front: it finishes the
    requests and leaves no process."""
    findings = Findings(f"{subject.name} {strategy}: stop by {', '.join(s.name for s in SIGNALS)}")
    await subject.normal(strategy)
    everyone, root = subject.everyone(), subject.service.processes[0]
    kind, body = valid(LONG[subject.name]), clients(f"/matrix/{strategy}")["body"]

    async def are_in_flight() -> bool:
        return await subject.in_flight() >= REQUESTS

    async with crowd(body, SLOW_SENDERS, subject.service.address):
        asked = [
            asyncio.create_task(subject.ask(strategy, kind, number, ANSWER_S))
            for number in range(REQUESTS)
        ]
        await seconds_until(are_in_flight, ANSWER_S / 4)
        unanswered = sum(not each.done() for each in asked)
        is_there = lambda: root.poll() is None  # noqa: E731
        probing = asyncio.create_task(subject.probed(strategy, is_there, ANSWER_S))
        for each in SIGNALS:
            root.send_signal(each)
            await asyncio.sleep(0.2)
        ended_s = await seconds_until(lambda: root.poll() is not None, ANSWER_S)
        verdicts = [answer.verdict for answer in await asyncio.gather(*asked)]
        probes = summed(await probing)
    findings.judge(
        "requests in flight are finished",
        f"{REQUESTS} right",
        f"{', '.join(verdicts)}; {unanswered} were in flight at the signal",
        set(verdicts) == {Verdict.RIGHT} and unanswered > 0,
    )
    # The front answers 099 once the service no longer listens. While the service still listens, but
    # does not accept, the front waits.
    findings.judge(
        "new requests are still served, or refused",
        "right, 503 or 099",
        str(probes),
        not probes.counts[Verdict.WRONG] and not probes.counts[Verdict.HUNG],
    )
    findings.within("ended", ended_s, subject.limit("stopTimeoutSeconds") + MARGIN_S)
    findings.judge("exit code", f"one of {CODES}", str(root.poll()), root.poll() in CODES)
    gone_s = await seconds_until(lambda: not any(map(is_alive, everyone)), MARGIN_S)
    findings.within("no process left", gone_s, MARGIN_S)
    return findings
