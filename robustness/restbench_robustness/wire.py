"""A minimal HTTP/1.1 client that sends a message exactly as it is described, right or wrong."""

from __future__ import annotations

import contextlib
import http.client
import select
import socket
from dataclasses import dataclass

from .oracle import Request

JSON_TYPE = (("Content-Type", "application/json"),)
#: Placeholder in a path for the strategy of the route.
STRATEGY = "{strategy}"


@dataclass(frozen=True)
class Route:
    """The strategy and the kernel for a message that does not fix them."""

    strategy: str
    kernel: str


@dataclass(frozen=True, repr=False)
class Message:
    """A request. A `Route` supplies the strategy and the kernel that the message leaves open."""

    body: bytes
    method: str = "POST"
    path: str = f"/matrix/{STRATEGY}"
    query: str | None = None
    """The query; None: `kernel=` with the kernel of the route."""
    headers: tuple[tuple[str, str], ...] = JSON_TYPE
    chunk_bytes: int | None = None
    """Send the body in chunks of this size, without Content-Length; 0: the body has chunk form."""
    missing_bytes: int = 0
    """Content-Length announces this many bytes more than are sent; negative: fewer. In chunks, any
    number above 0 leaves out the last chunk."""
    is_http: bool = True
    """False: the message violates HTTP itself, so that the contract does not define the answer."""
    host: str | None = None
    """Value of the header Host; None: the service's host. A Host in `headers` is a second one."""

    def __repr__(self) -> str:
        """A short form without the body, which may have megabytes."""
        return f"Message({self.method} {self.path}, {len(self.body)} bytes)"

    def target(self, route: Route) -> str:
        """Path and query as they are sent."""
        query = f"kernel={route.kernel}" if self.query is None else self.query
        path = self.path.replace(STRATEGY, route.strategy)
        return f"{path}?{query}" if query else path

    def head(self, route: Route, own_host: str) -> bytes:
        """The request line and the headers."""
        host = own_host if self.host is None else self.host
        lines = [f"{self.method} {self.target(route)} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if self.chunk_bytes is not None:
            lines.append("Transfer-Encoding: chunked")
        elif self.announced_bytes or self.method not in {"GET", "HEAD"}:
            lines.append(f"Content-Length: {self.announced_bytes}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def payload(self) -> bytes:
        """The bytes after the head: the body, in chunks if so wanted."""
        if not self.chunk_bytes:
            return self.body
        pieces = [
            self.body[start : start + self.chunk_bytes]
            for start in range(0, len(self.body), self.chunk_bytes)
        ]
        chunks = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces]
        return b"".join(chunks) + (b"" if self.missing_bytes else b"0\r\n\r\n")

    @property
    def announced_bytes(self) -> int:
        """Content-Length, where it is sent."""
        return max(0, len(self.body) + self.missing_bytes)

    def as_received(self, route: Route) -> Request:
        """The request as a service receives it, for the oracle."""
        chunked = self.chunk_bytes is not None
        types = [value for name, value in self.headers if name.lower() == "content-type"]
        return Request(
            method=self.method,
            target=self.target(route),
            content_type=types[0] if types else None,
            body=self.body if chunked else self.body[: self.announced_bytes],
            declared_bytes=None if chunked else self.announced_bytes,
            is_whole=self.missing_bytes <= 0,
        )


SEND_BYTES = 1 << 16
"""Size of the pieces in which a request is sent; between two the client looks for an answer."""

QUIET_S = 0.2
"""Seconds of silence after an invalid message, after which the service seems to wait for more."""


@dataclass(frozen=True)
class Answer:
    """A whole response."""

    status: int
    headers: dict[str, str]
    """Values by header name in lower case."""
    body: bytes


@dataclass(frozen=True)
class NoAnswer:
    """The connection ended, or no answer arrived within the timeout (`hang`)."""

    reason: str
    hang: bool = False


class Connection:
    """A kept connection to one service, which is reopened after it has ended."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        """`timeout_s`: seconds for which the service may be silent."""
        self._address = (host, port)
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None

    def exchange(self, message: Message, route: Route) -> Answer | NoAnswer:
        """Send one message and read the answer.

        If the service has closed the kept connection meanwhile, the message is sent once more on a
        new one.
        """
        reused = self._socket is not None
        answer = self._try(message, route)
        if reused and isinstance(answer, NoAnswer) and not answer.hang:
            answer = self._try(message, route)
        return answer

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _try(self, message: Message, route: Route) -> Answer | NoAnswer:
        try:
            if self._socket is None:
                self._socket = socket.create_connection(self._address, self._timeout_s)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            open_socket = self._socket
            self._send(open_socket, message, route)
            response = http.client.HTTPResponse(open_socket, method=message.method)
            response.begin()
            headers = {name.lower(): value for name, value in response.getheaders()}
            answer = Answer(response.status, headers, response.read())
        except TimeoutError:
            self.close()
            return NoAnswer(f"silent for {self._timeout_s:.0f} s", hang=True)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            return NoAnswer(f"{type(error).__name__}: {error}")
        if response.will_close or message.missing_bytes or not message.is_http:
            self.close()
        return answer

    def _send(self, to: socket.socket, message: Message, route: Route) -> None:
        """Send head and payload, up to the first byte of an answer: a service may refuse a request
        before it has read all of it. Raises TimeoutError."""
        data = memoryview(message.head(route, self._address[0]) + message.payload())
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while data:
                readable, writable, _ = select.select([to], [to], [], self._timeout_s)
                if not readable and not writable:
                    raise TimeoutError
                if readable:
                    return
                data = data[to.send(data[:SEND_BYTES]) :]
            waits = not message.is_http and not select.select([to], [], [], QUIET_S)[0]
            if message.missing_bytes > 0 or waits:
                to.shutdown(socket.SHUT_WR)
