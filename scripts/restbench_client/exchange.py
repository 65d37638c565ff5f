"""HTTP exchanges with one endpoint: blocking, with a thread per connection, or in an event loop.

The blocking exchange uses `http.client` instead of requests or httpx. Their timeouts bound each
read and not the whole answer, and a thread cannot close the connection for which another one
waits. By default httpx also keeps at most 20 idle connections.
"""

from __future__ import annotations

import asyncio
import copy
import heapq
import http.client
import io
import itertools
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from restbench_client.batch import Cancellation
from restbench_client.model import Answer, AsyncSend, ExchangeFailure, Kind, Stopped

PIECE_BYTES = 1 << 16
_numbers = itertools.count()


class ThreadExchange:
    """Blocking exchange: one connection for each call in flight. Idle connections are kept."""

    def __init__(self, url: str, content_type: str, headers: dict[str, str] | None = None) -> None:
        """`url` is that of the endpoint, with its query; its scheme must be http."""
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._target = _target(url)
        self._headers = {"Content-Type": content_type, **(headers or {})}
        self._idle: deque[http.client.HTTPConnection] = deque()
        self._watch = _Watch()

    def to(self, url: str) -> ThreadExchange:
        """An exchange with another endpoint of the same host over the same connections. Closing one
        of the two closes both. ValueError for another host."""
        parts = urlsplit(url)
        if (parts.hostname or "", parts.port or 80) != (self._host, self._port):
            raise ValueError(f"url: must be at {self._host}:{self._port}, is {url}")
        other = copy.copy(self)
        other._target = _target(url)
        return other

    def send(self, request: bytes, deadline: float, most_bytes: int, stop: Cancellation) -> Answer:
        """The answer (Exchange). Raises RuntimeError where the exchange is closed."""
        number = next(_numbers)
        connection = self._kept() or self._connected(number, deadline, stop)
        own = connection.sock
        is_whole = False
        try:
            self._watch.add(number, deadline, own)
            stop.add(number, lambda: _shut(own))
            answer, is_kept = _exchanged(
                connection, self._target, request, self._headers, most_bytes
            )
            is_whole = is_kept
        except (OSError, http.client.HTTPException) as error:
            if stop.is_set():
                raise Stopped from error
            if self._watch.is_over(number) or isinstance(error, TimeoutError):
                raise ExchangeFailure(Kind.TIMEOUT, "no whole answer in time") from error
            raise ExchangeFailure(_kind(error), f"{type(error).__name__}: {error}") from error
        finally:
            stop.remove(number)
            if self._watch.remove(number) and is_whole:
                self._idle.append(connection)
            else:
                connection.close()
        return answer

    def _kept(self) -> http.client.HTTPConnection | None:
        while True:
            try:
                kept = self._idle.pop()
            except IndexError:
                return None
            poll = select.poll()  # select.select takes no file descriptor above 1023
            poll.register(kept.sock, select.POLLIN)
            if not poll.poll(0):
                return kept
            kept.close()  # readable before a request: the service closed it

    def _connected(
        self, number: int, deadline: float, stop: Cancellation
    ) -> http.client.HTTPConnection:
        made = http.client.HTTPConnection(self._host, self._port)
        made.response_class = _Response
        try:
            made.sock = self._opened(number, deadline, stop)
        except OSError as error:
            if stop.is_set():
                raise Stopped from error
            if time.monotonic() >= deadline:
                raise ExchangeFailure(Kind.TIMEOUT, "no connection in time") from error
            raise ExchangeFailure(Kind.CONNECT, f"{type(error).__name__}: {error}") from error
        finally:
            stop.remove(number)
        return made

    def _opened(self, number: int, deadline: float, stop: Cancellation) -> socket.socket:
        """A socket that is connected to the first of the host's addresses that accepts.

        `http.client` hides the socket until it is connected, so that a cancel could not close it.
        """
        failed = OSError("no address")
        for family, kind, protocol, _, address in socket.getaddrinfo(
            self._host, self._port, type=socket.SOCK_STREAM
        ):
            own = socket.socket(family, kind, protocol)
            try:
                stop.add(number, partial(_shut, own))
                own.settimeout(max(0.001, deadline - time.monotonic()))
                own.connect(address)
                own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                own.settimeout(None)  # from here on the watch enforces the deadline
            except OSError as error:
                own.close()
                failed = error
            except Stopped:
                own.close()
                raise
            else:
                return own
        raise failed

    def close(self) -> None:
        """Close all connections. Calls in flight and later calls fail."""
        self._watch.close()
        while self._idle:
            self._idle.pop().close()


class _Lines(io.BufferedReader):
    """Raises where the connection ends within a line. `http.client` takes the end of a cut-off head
    as the end of a whole one."""

    def readline(self, size: int | None = -1) -> bytes:
        line = super().readline(size)
        if not line.endswith(b"\n") and len(line) != size:
            raise http.client.RemoteDisconnected("the connection ended within the head or a chunk")
        return line


class _Response(http.client.HTTPResponse):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.fp = _Lines(self.fp.detach())


class AiohttpExchange:
    """Exchange in an event loop, by aiohttp. One batch at a time uses a session and its loop.

    aiohttp's own limit of connections is off: the strategy limits the calls in flight.
    """

    def __init__(self, url: str, content_type: str, headers: dict[str, str] | None = None) -> None:
        """`url` is that of the endpoint, with its query."""
        self._url = url
        self._headers = {"Content-Type": content_type, **(headers or {})}
        self._idle: deque[tuple[asyncio.Runner, aiohttp.ClientSession]] = deque()

    def to(self, url: str) -> AiohttpExchange:
        """As ThreadExchange.to."""
        other = copy.copy(self)
        other._url = url
        return other

    def run(self, work: Callable[[AsyncSend], Coroutine[Any, Any, bool]]) -> None:
        """Run `work` in the event loop of an idle session or of a new one (AsyncExchange)."""
        try:
            runner, session = self._idle.pop()
        except IndexError:
            runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
            session = runner.run(_session())
        is_kept = False
        try:
            is_kept = runner.run(work(partial(self._send, session)))
        finally:
            if is_kept:
                self._idle.append((runner, session))
            else:
                _end(runner, session)

    def close(self) -> None:
        """Close all connections and event loops that no batch uses."""
        while self._idle:
            _end(*self._idle.pop())

    async def _send(
        self, session: aiohttp.ClientSession, request: bytes, deadline: float, most_bytes: int
    ) -> Answer:
        try:
            async with (
                asyncio.timeout(deadline - time.monotonic()),
                session.post(
                    self._url, data=request, headers=self._headers, allow_redirects=False
                ) as response,
            ):
                body = bytearray()
                async for piece in response.content.iter_any():
                    body += piece
                    if len(body) > most_bytes:
                        raise _too_large(most_bytes)
                headers = {name.lower(): value for name, value in response.headers.items()}
                return Answer(response.status, headers, bytes(body))
        except TimeoutError as error:
            raise ExchangeFailure(Kind.TIMEOUT, "no whole answer in time") from error
        except aiohttp.ClientError as error:
            raise ExchangeFailure(_async_kind(error), f"{type(error).__name__}: {error}") from error
        except OSError as error:
            raise ExchangeFailure(Kind.CUT_OFF, f"{type(error).__name__}: {error}") from error


class _Watch:
    """A thread that shuts down connections whose deadline has passed."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._watched: dict[int, socket.socket] = {}
        self._heap: list[tuple[float, int]] = []
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def add(self, number: int, deadline: float, connection: socket.socket) -> None:
        with self._change:
            if self._is_closed:
                raise RuntimeError("the exchange is closed")
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="call-watch", daemon=True)
                thread.start()  # a RuntimeError leaves _thread None: the next call retries
                self._thread = thread
            self._watched[number] = connection
            heapq.heappush(self._heap, (deadline, number))
            if self._heap[0][1] == number:
                self._change.notify()

    def is_over(self, number: int) -> bool:
        """Whether the connection of a call that is not removed was shut down at its deadline."""
        return number not in self._watched

    def remove(self, number: int) -> bool:
        """Whether the connection was not shut down."""
        with self._change:
            was_watched = self._watched.pop(number, None) is not None
            while self._heap and self._heap[0][1] not in self._watched:
                heapq.heappop(self._heap)
        return was_watched

    def close(self) -> None:
        with self._change:
            self._is_closed = True
            for each in self._watched.values():
                _shut(each)
            self._change.notify()

    def _run(self) -> None:
        with self._change:
            while not self._is_closed:
                now = time.monotonic()
                while self._heap and self._heap[0][0] <= now:
                    over = self._watched.pop(heapq.heappop(self._heap)[1], None)
                    if over is not None:
                        _shut(over)
                self._change.wait(self._heap[0][0] - now if self._heap else None)


def _target(url: str) -> str:
    """The target of a request: the path with the query."""
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


async def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=None),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        auto_decompress=False,
        skip_auto_headers=("User-Agent", "Accept-Encoding"),
    )


def _end(runner: asyncio.Runner, session: aiohttp.ClientSession) -> None:
    with runner:
        runner.run(session.close())


def _exchanged(
    connection: http.client.HTTPConnection,
    target: str,
    request: bytes,
    headers: dict[str, str],
    most_bytes: int,
) -> tuple[Answer, bool]:
    """The answer, and whether the connection can be used again."""
    with suppress(BrokenPipeError, ConnectionResetError):
        # the service may answer, and close, before it has read the whole request
        connection.request("POST", target, request, headers)
    response = connection.getresponse()
    body = bytearray()
    # read() takes a chunk of negative size as endless, and would buffer all of it
    read = response.read1 if response.chunked else response.read
    while piece := read(PIECE_BYTES):
        body += piece
        if len(body) > most_bytes:
            raise _too_large(most_bytes)
    if response.length:
        raise http.client.IncompleteRead(bytes(body[:0]), response.length)
    named = {name.lower(): value for name, value in response.getheaders()}
    is_kept = not response.will_close
    response.close()
    return Answer(response.status, named, bytes(body)), is_kept


def _kind(error: Exception) -> Kind:
    if isinstance(error, http.client.RemoteDisconnected | http.client.IncompleteRead | OSError):
        return Kind.CUT_OFF
    return Kind.NOT_HTTP


def _async_kind(error: aiohttp.ClientError) -> Kind:
    if isinstance(error, aiohttp.ClientConnectorError):
        return Kind.CONNECT
    if isinstance(error, aiohttp.ClientResponseError):
        return Kind.NOT_HTTP
    return Kind.CUT_OFF


def _too_large(most_bytes: int) -> ExchangeFailure:
    return ExchangeFailure(Kind.TOO_LARGE, f"the answer is larger than {most_bytes} bytes")


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # the socket is closed already
        connection.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits
