"""A client that sends what it is told, and tells how that ends."""

import http.client
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from live_service import DEADLINE_SECONDS, Answer

HEAD = b"POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


def post_head(length: int) -> bytes:
    """A head that promises a body of so many bytes."""
    return HEAD + b"Content-Length: %d\r\n\r\n" % length


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_SECONDS) as client:
        yield client


def answer_of(client: socket.socket) -> Answer:
    """One response, to its end."""
    response = http.client.HTTPResponse(client)
    response.begin()
    return Answer(response.status, response.headers, response.read())


def is_answered(client: socket.socket) -> bool:
    """Whether something has come that was not read."""
    return client in select.select([client], [], [], 0)[0]


def everything(client: socket.socket) -> bytes:
    """What the server sends until it closes; nothing after it has cut the connection."""
    received = b""
    try:
        while piece := client.recv(65536):
            received += piece
    except ConnectionError:
        pass
    return received
