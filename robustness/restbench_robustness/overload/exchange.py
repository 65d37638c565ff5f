"""A client's connection: one request at a time, and what its answer is judged to be."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import io
import re
import time
from dataclasses import dataclass
from enum import StrEnum

from restbench_robustness.wire import Answer

from .mix import Request, told

STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})[ \r]")


class Verdict(StrEnum):
    """What became of one request."""

    RIGHT = "right"
    """200 with the exact product, or the contract's error for a body that deserves it."""
    REFUSED = "refused"
    """503 with code 008 and Retry-After."""
    FAULT = "fault"
    """500 with code 099."""
    LOST = "lost"
    """The connection was refused, closed or reset before a whole answer had come."""
    HUNG = "hung"
    """No whole answer within the stated time."""
    WRONG = "wrong"
    """Anything else."""


@dataclass(frozen=True)
class Judged:
    """One request's end; moments of the monotonic clock."""

    verdict: Verdict
    began_s: float
    ended_s: float
    shown: str
    """What came, in short."""


class Connection:
    """Opened when it is first needed, and again after it was closed. Not for two tasks at once."""

    def __init__(self, address: tuple[str, int]) -> None:
        """`address` is host and port."""
        self._address = address
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def verdict(self, path: str, request: Request, timeout_s: float) -> Judged:
        """Send a request and judge its answer; whatever is not right closes the connection."""
        began = time.monotonic()
        verdict, shown = await self._judged(path, request, timeout_s)
        return Judged(verdict, began, time.monotonic(), shown)

    async def _judged(self, path: str, request: Request, timeout_s: float) -> tuple[Verdict, str]:
        lines = (
            f"POST {path}{request.query} HTTP/1.1", f"Host: {self._address[0]}",
            "Content-Type: application/json", f"Content-Length: {len(request.body)}", "", "",
        )  # fmt: skip
        try:
            async with asyncio.timeout(timeout_s):
                answer = await self.exchange("\r\n".join(lines).encode() + request.body)
        except TimeoutError:
            return Verdict.HUNG, "no whole answer"
        except (OSError, asyncio.IncompleteReadError) as error:
            return Verdict.LOST, repr(error)
        except (ValueError, http.client.HTTPException) as error:
            return Verdict.WRONG, repr(error)
        return judge(request, answer), f"{answer.status} {answer.body[:100]!r}"

    async def exchange(self, message: bytes) -> Answer:
        """The answer, also to a message that is not sent whole yet. When it raises, it closes."""
        if self._streams is None or self._streams[0].at_eof():
            self.close()
            self._streams = await asyncio.open_connection(*self._address, limit=1 << 20)
        reader, writer = self._streams
        try:
            writer.write(message)
            answer = await _read(reader)
        except BaseException:
            self.close()
            raise
        early = writer.transport.get_write_buffer_size() > 0
        if early or answer.headers.get("connection", "").lower() == "close":
            self.close()
        return answer

    def close(self) -> None:
        """Let go of the socket; the next exchange opens another."""
        if self._streams is not None:
            with contextlib.suppress(OSError):
                self._streams[1].transport.abort()
        self._streams = None


async def _read(reader: asyncio.StreamReader) -> Answer:
    head = await reader.readuntil(b"\r\n\r\n")
    status = STATUS_LINE.match(head)
    if status is None:
        raise ValueError(f"not HTTP: {head[:60]!r}")
    fields = http.client.parse_headers(io.BytesIO(head.partition(b"\r\n")[2]))
    headers = {name.lower(): value for name, value in fields.items()}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Answer(int(status[1]), headers, body)


def judge(request: Request, answer: Answer) -> Verdict:
    """What an answer to the request is."""
    code = told(answer.body).get("errorCode")
    if answer.status == 503:
        later = answer.headers.get("retry-after", "")
        refused = code == "008" and later.isdigit() and int(later) >= 1
        return Verdict.REFUSED if refused else Verdict.WRONG
    if answer.status == 500 and code == "099":
        return Verdict.FAULT
    return Verdict.RIGHT if request.right(answer.status, answer.body) else Verdict.WRONG
