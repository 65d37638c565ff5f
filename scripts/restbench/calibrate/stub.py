"""A service whose behaviour is known: it answers correctly, after a given delay, and can stall.

    python -m restbench.calibrate.stub '{"port": 18500, "answer_file": "answer-rest.json"}'

It answers requests for a product, and a GET of anything else. It reads only the id of a request, so
that it answers faster than any service that computes.
"""

from __future__ import annotations

import asyncio
import json
import selectors
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
STRATEGY = "serial"
_ID = b'"requestId":"'
_LENGTH = b"content-length:"
#: Multiples of it, modulo 1, are spread evenly however many there are.
GOLDEN = 0.6180339887


@dataclass(frozen=True)
class Behaviour:
    """What the stub does. Times are counted by its own clock."""

    port: int = 0
    answer_file: str = ""
    """File with the part of every answer after its id, as JSON text (`payload.ANSWER_REST`)."""
    delay_ms: float = 0.0
    """From the last byte of a request to the first of its answer; 0 answers at once. A connection's
    first answer is late by a further part of the delay, different for each connection: users that
    start together would else stay in step, and wait for each other instead of for the stub."""
    stall_after_s: float = 0.0
    """From the first request of a load to the stall."""
    stall_s: float = 0.0
    """How long the whole process stops, once; 0 is never."""


class Stub:
    """The answers, and the stall that all connections share."""

    def __init__(self, behaviour: Behaviour) -> None:
        """Read the answer once. Raises FileNotFoundError where its file is missing."""
        self.behaviour = behaviour
        self.loop = asyncio.get_running_loop()
        self._connections = 0
        self._stall_planned = behaviour.stall_s == 0
        timing = f"queue;dur=0, parse;dur=0, compute;dur={behaviour.delay_ms:g}, serialize;dur=0"
        self._head = _ok(f"Server-Timing: {timing}\r\n")
        self._rest = b'",' + Path(behaviour.answer_file).read_bytes()

    def phase_ms(self) -> float:
        """The extra delay of the next connection's first answer, evenly spread up to delay_ms."""
        self._connections += 1
        return self.behaviour.delay_ms * (self._connections * GOLDEN % 1)

    def product(self, body: bytes) -> bytes:
        """The whole answer to a request's body."""
        start = body.index(_ID) + len(_ID)
        request_id = body[start : body.index(b'"', start)]
        answer = b"{" + _ID + request_id + self._rest
        return self._head % len(answer) + answer

    def plan_stall(self) -> None:
        """Plan the stall at the first request of a load: the whole process will stop once."""
        if not self._stall_planned:
            self._stall_planned = True
            self.loop.call_later(self.behaviour.stall_after_s, time.sleep, self.behaviour.stall_s)


class Connection(asyncio.Protocol):
    """One connection; requests on it come one after the other."""

    def __init__(self, stub: Stub) -> None:
        """Answer as this stub does."""
        self._stub = stub
        self._received = b""
        self._extra_ms = stub.phase_ms()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport to the client."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - what asyncio promises
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer when the request is complete."""
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end or len(body) < _body_bytes(head):
            return
        self._received = b""
        if head.startswith(b"GET"):
            self._write(_ok() % 2 + b"{}")  # the harness asks whether the stub is up
        else:
            self._take(body)

    def _take(self, body: bytes) -> None:
        stub = self._stub
        stub.plan_stall()
        if stub.behaviour.delay_ms:
            delay_s = (stub.behaviour.delay_ms + self._extra_ms) / 1000
            self._extra_ms = 0.0
            stub.loop.call_later(delay_s, self._answer, body)
        else:
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        self._write(self._stub.product(body))

    def _write(self, answer: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(answer)


def _body_bytes(head: bytes) -> int:
    lower = head.lower()
    at = lower.find(_LENGTH)
    return int(lower[at + len(_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0


def _ok(header: str = "") -> bytes:
    common = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    return f"{common}{header}Content-Length: %d\r\n\r\n".encode()


async def serve(behaviour: Behaviour) -> None:
    """Answer until the process is ended."""
    stub = Stub(behaviour)
    server = await stub.loop.create_server(lambda: Connection(stub), HOST, behaviour.port)
    await server.serve_forever()


def main() -> None:
    """Serve as the argument says, a Behaviour in JSON."""
    behaviour = Behaviour(**json.loads(sys.argv[1]))
    # epoll waits in whole milliseconds, select in microseconds: a delay of 5 ms shall not be 6.
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    loop.run_until_complete(serve(behaviour))


if __name__ == "__main__":
    main()
