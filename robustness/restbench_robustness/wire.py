"""HTTP/1.1 by hand: what is sent is what the message says, right or wrong."""

from __future__ import annotations

import contextlib
import http.client
import select
import socket
from dataclasses import dataclass

from .message import Message, Route

SEND_BYTES = 1 << 16
"""A piece of a body; between two the service may already have answered."""


@dataclass(frozen=True)
class Answer:
    """A whole response."""

    status: int
    headers: dict[str, str]
    """By name in lower case."""
    body: bytes


@dataclass(frozen=True)
class NoAnswer:
    """The connection ended, or nothing came in time."""

    reason: str
    hang: bool = False


class Connection:
    """A kept connection to one service, opened again where it has ended."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        """`timeout_s` is how long a service may be silent."""
        self._address = (host, port)
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None

    def exchange(self, message: Message, route: Route) -> Answer | NoAnswer:
        """Send one message and read what comes back.

        A kept connection that the service has closed meanwhile is opened anew, once.
        """
        reused = self._socket is not None
        answer = self._try(message, route)
        if reused and isinstance(answer, NoAnswer) and not answer.hang:
            answer = self._try(message, route)
        return answer

    def close(self) -> None:
        """End the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _try(self, message: Message, route: Route) -> Answer | NoAnswer:
        try:
            open_socket = self._open()
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
        if response.will_close or not (message.is_whole and message.is_http):
            self.close()
        return answer

    def _open(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, self._timeout_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket

    def _send(self, to: socket.socket, message: Message, route: Route) -> None:
        """Head and payload, until an answer comes: a service need not read what it refuses."""
        data = memoryview(message.head(route, self._address[0]) + message.payload())
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while data:
                readable, writable, _ = select.select([to], [to], [], self._timeout_s)
                if not readable and not writable:
                    raise TimeoutError
                if readable:
                    return
                data = data[to.send(data[:SEND_BYTES]) :]
            if message.missing_bytes > 0:
                to.shutdown(socket.SHUT_WR)
