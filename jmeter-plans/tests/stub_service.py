"""A service that answers at once, or late, or wrongly, to test the plan's checks against."""

import asyncio
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from conftest import ROWS

SERVER_TIMING = "queue;dur=0.012, parse;dur=1.234, compute;dur=1.234, serialize;dur=0.345"


@dataclass(frozen=True)
class Answer:
    """What the stub sends back: the HTTP status, the body, the value of Server-Timing, and whether
    it says how long the body is."""

    status: int
    body: bytes
    server_timing: str | None = SERVER_TIMING
    has_length: bool = True


def right(request_id: str, rows: str = ROWS) -> Answer:
    """A right answer: to the example's request, or with these rows."""
    return Answer(200, f'{{"requestId":"{request_id}","rows":{rows}}}'.encode())


@dataclass
class StubService:
    """Answers every POST with `answer(request_id)`, `delay_s` seconds after it has come in.

    Use it as a context manager. It listens on a free port of 127.0.0.1 and remembers what was sent,
    how many connections it had and how many are open.
    """

    answer: Callable[[str], Answer]
    delay_s: float = 0.0
    port: int = 0
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    connections: int = 0
    open: int = 0

    @property
    def request_ids(self) -> list[str]:
        """The ids of the requests, in the order they came in."""
        return [_request_id(body) for body in self.bodies]

    def __enter__(self) -> Self:
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self._thread.start()
        if not started.wait(timeout=60):
            raise RuntimeError("the stub did not start to listen within 60 s")
        return self

    def __exit__(self, *_raised: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(timeout=60)

    def _serve(self, started: threading.Event) -> None:
        asyncio.run(self._listen(started))

    async def _listen(self, started: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self.port, backlog=256)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._stop.wait()
        server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii")
                length = re.search(r"(?mi)^content-length: *(\d+)", head)
                body = await reader.readexactly(int(length.group(1)) if length else 0)
                self.paths.append(head.split(" ", 2)[1])
                self.bodies.append(body)
                await asyncio.sleep(self.delay_s)
                writer.write(_http(self.answer(_request_id(body))))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()


def _request_id(body: bytes) -> str:
    return body.split(b'"', 4)[3].decode("ascii")


def _http(answer: Answer) -> bytes:
    timing = f"Server-Timing: {answer.server_timing}\r\n" if answer.server_timing else ""
    length = f"Content-Length: {len(answer.body)}\r\n" if answer.has_length else ""
    head = (
        f"HTTP/1.1 {answer.status} Stub\r\nContent-Type: application/json\r\n{timing}{length}\r\n"
    )
    return head.encode("ascii") + answer.body
