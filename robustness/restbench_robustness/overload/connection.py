"""One HTTP/1.1 connection of a load: sends a request, reads the whole answer, even an early one."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from typing import Self

from restbench_robustness.answer import Answer

#: Larger than most answers, so that they come in one piece.
RECEIVE_BYTES = 1 << 18
STATUS_LINE = re.compile(r"HTTP/1\.[01] ([1-9][0-9]{2})(?: |$)")
LENGTH = re.compile("[0-9]{1,18}")


class LostError(Exception):
    """The connection ended before a whole answer had come."""


class NotHttpError(Exception):
    """What came is no head of an answer."""


class Connection:
    """Opened when it is first needed, and again after it was closed. Not for two tasks at once."""

    def __init__(self, address: tuple[str, int]) -> None:
        """`address` is host and port."""
        self._address = address
        self._socket: socket.socket | None = None
        self._received = bytearray()
        self._sending: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Open it."""
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    async def open(self) -> None:
        """Connect, unless it is connected and the other side has not ended it meanwhile."""
        if self._socket is not None and not self._ended():
            return
        self.close()
        self._socket = socket.socket()
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await asyncio.get_running_loop().sock_connect(self._socket, self._address)
        except OSError as error:
            self.close()
            raise LostError(f"not connected: {error}") from error

    async def exchange(self, request: bytes) -> Answer:
        """The answer to a request. Raises LostError, NotHttpError.

        When it raises, or is cancelled, the connection is closed.
        """
        await self.open()
        try:
            self._send(request)
            answer = await self._receive()
        except OSError as error:
            self.close()
            raise LostError(f"{error}, after {len(self._received)} bytes of an answer") from error
        except BaseException:
            self.close()
            raise
        early = self._sending is not None and not self._sending.done()
        if early or answer.headers.get("connection", "").lower() == "close":
            self.close()
        return answer

    def close(self) -> None:
        """Let go of the socket; the next exchange opens another."""
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._received.clear()

    @property
    def _stream(self) -> socket.socket:
        if self._socket is None:
            raise LostError("not connected")
        return self._socket

    def _ended(self) -> bool:
        try:
            self._stream.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def _send(self, request: bytes) -> None:
        """At once where the kernel takes it all, else beside the reading of the answer."""
        try:
            sent = self._stream.send(request)
        except BlockingIOError:
            sent = 0
        rest = memoryview(request)[sent:]
        self._sending = asyncio.create_task(self._send_rest(rest)) if rest else None

    async def _send_rest(self, rest: memoryview) -> None:
        """A server may answer and close before it has read all: what it said can still be read."""
        with contextlib.suppress(OSError):
            await asyncio.get_running_loop().sock_sendall(self._stream, rest)

    async def _receive(self) -> Answer:
        while (end := self._received.find(b"\r\n\r\n")) < 0:
            await self._more()
        status, length, headers = _head(self._received[:end].decode("latin-1"))
        while len(self._received) < end + 4 + length:
            await self._more()
        body = bytes(self._received[end + 4 : end + 4 + length])
        del self._received[: end + 4 + length]
        return Answer(status, headers, body)

    async def _more(self) -> None:
        data = await asyncio.get_running_loop().sock_recv(self._stream, RECEIVE_BYTES)
        if not data:
            raise LostError(f"closed after {len(self._received)} bytes of an answer")
        self._received += data


def _head(text: str) -> tuple[int, int, dict[str, str]]:
    """Status, length of the body, and all headers by their names in lower case."""
    first, *lines = text.split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    found = STATUS_LINE.match(first), LENGTH.fullmatch(headers.get("content-length", "0"))
    if found[0] is None or found[1] is None:
        raise NotHttpError(f"not HTTP: {text[:100]!r}")
    return int(found[0][1]), int(found[1][0]), headers
