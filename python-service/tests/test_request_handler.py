"""What a thread does with a connection: its request, and the next one where it comes at once."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from gunicorn import http
from gunicorn.config import Config

from restbench_service.server import request_handler
from restbench_service.server.connection import Connection, Head
from restbench_service.server.constants import Constants
from restbench_service.server.request_handler import RequestHandler
from restbench_service.server.timed_socket import TimedSocket
from restbench_service.settings import Settings

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
FAR_TOO_LONG_SECONDS = 600.0
"""To wait so long is to fail by the limit that each test has."""


@dataclass
class Served:
    """A client's end, ours with a whole head in it, and the paths that the app was asked for."""

    client: socket.socket
    connection: Connection
    paths: list[str]
    is_stopping: bool = False
    has_spare_threads: bool = True

    def serve(self) -> Head | None:
        handler = RequestHandler(
            self.app,
            Constants(Config()),
            Settings(),
            lambda: self.is_stopping,
            lambda: self.has_spare_threads,
        )
        return handler.serve(self.connection)

    def app(self, environ: dict[str, Any], start_response: Any) -> "Body":
        self.paths.append(environ["PATH_INFO"])
        start_response("200 OK", [("Content-Length", "2")])
        return Body([b"ok"])


class Body(list[bytes]):
    def close(self) -> None:
        """As a WSGI answer may have it."""


@pytest.fixture
def served() -> Iterator[Served]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sock, address = TimedSocket(ours, 60.0), ("127.0.0.1", 1)
        sock.receive_within(60)
        parser = http.get_parser(Constants(Config()), sock, address)
        connection = Connection(ours, sock, parser, address, address)
        theirs.sendall(REQUEST)
        assert connection.receive_head() is Head.WHOLE
        yield Served(theirs, connection, [])


def request(path: str) -> bytes:
    return REQUEST.replace(b"/ ", path.encode() + b" ", 1)


def test_the_requests_that_came_meanwhile_are_answered_in_the_same_turn(served: Served) -> None:
    served.client.sendall(request("/a") + request("/b") + b"GET /c")
    assert served.serve() is Head.PART
    assert served.paths == ["/", "/a", "/b"]
    assert served.client.recv(100_000).count(b"HTTP/1.1 200 OK\r\n") == 3


def test_a_request_that_comes_at_once_after_the_answer_is_answered_in_the_same_turn(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_handler, "AT_ONCE_SECONDS", FAR_TOO_LONG_SECONDS)

    def ask_again() -> None:
        assert served.client.recv(100_000).startswith(b"HTTP/1.1 200 OK\r\n")
        served.client.sendall(request("/again"))
        assert served.client.recv(100_000).startswith(b"HTTP/1.1 200 OK\r\n")
        served.client.shutdown(socket.SHUT_WR)

    client = threading.Thread(target=ask_again)
    client.start()
    assert served.serve() is Head.GONE
    client.join()
    assert served.paths == ["/", "/again"]


def test_a_client_that_does_not_ask_again_at_once_is_left_to_the_loop(served: Served) -> None:
    assert served.serve() is Head.NOTHING


@pytest.mark.parametrize(("is_stopping", "has_spare_threads"), [(True, True), (False, False)])
def test_nobody_is_waited_for_where_threads_are_scarce_or_the_service_stops(
    served: Served, monkeypatch: pytest.MonkeyPatch, is_stopping: bool, has_spare_threads: bool
) -> None:
    monkeypatch.setattr(request_handler, "AT_ONCE_SECONDS", FAR_TOO_LONG_SECONDS)
    served.is_stopping, served.has_spare_threads = is_stopping, has_spare_threads
    # the last answer of a service that stops says that it ends the connection
    assert served.serve() is (None if is_stopping else Head.NOTHING)
    said = b"close" if is_stopping else b"keep-alive"
    assert b"\r\nConnection: " + said + b"\r\n" in served.client.recv(100_000)


def test_the_time_to_receive_a_request_begins_with_its_first_byte(served: Served) -> None:
    served.connection.sock.receive_by = 0.0
    served.client.sendall(request("/a"))
    assert served.serve() is Head.NOTHING
    assert served.connection.sock.receive_by > 0.0
