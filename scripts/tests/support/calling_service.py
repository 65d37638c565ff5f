"""A service for clients, of raw sockets: each connection is given to a function."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Handler = Callable[[bytes], bytes | Iterator[bytes]]


def answered(body: object, status: str = "200 OK", headers: str = "") -> bytes:
    """A whole answer."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{headers}\r\n"
    return head.encode() + content


def product(request: bytes) -> bytes:
    """1 x 1, of the first elements."""
    said = json.loads(request)
    one, two = (
        int(said[name]["rows"][0]["value"].split(",")[0]) for name in ("matrixOne", "matrixTwo")
    )
    return answered({"requestId": said["requestId"], "rows": [[one * two]]})


def asked(value: int) -> dict[str, object]:
    """The body of a request for value * 2."""
    one, two = ({"columnCount": 1, "rows": [{"value": str(each)}]} for each in (value, 2))
    return {"requestId": "", "matrixOne": one, "matrixTwo": two}


@contextmanager
def serving(handler: Handler) -> Iterator[str]:
    """The URL; pieces of an iterator are sent one by one, and the connection closed behind them."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    host, port = listening.getsockname()

    def accept() -> None:
        with suppress(OSError):
            while True:
                own, _ = listening.accept()
                threading.Thread(target=_serve, args=(own, handler), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://{host}:{port}/matrix/serial"
    finally:
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)  # else it is open as long as accept() waits
        listening.close()


def _serve(own: socket.socket, handler: Handler) -> None:
    with own, suppress(OSError):
        stream = own.makefile("rb")
        while (body := _request(stream)) is not None:
            found = handler(body)
            if isinstance(found, bytes):
                own.sendall(found)
                continue
            for piece in found:
                own.sendall(piece)
            return


def _request(stream: object) -> bytes | None:
    length = 0
    while line := stream.readline():  # type: ignore[attr-defined]
        if line == b"\r\n":
            return stream.read(length)  # type: ignore[attr-defined,no-any-return]
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return None


def trickled(_request: bytes) -> Iterator[bytes]:
    """A body that never ends, a byte at a time."""
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
    while True:
        time.sleep(0.02)
        yield b" "


def spoilt(body: bytes, draw: random.Random) -> bytes:
    """With one to three changes of bytes."""
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(body))
        match draw.randrange(4):
            case 0:
                body = body[:at] + bytes([draw.randrange(256)]) + body[at + 1 :]
            case 1:
                body = body[: at + 1]
            case 2:
                body = body[:at] + body[draw.randrange(len(body)) :]
            case _:
                body = body[:at] + draw.choice(PIECES) + body[at:]
    return body


PIECES = (b"[", b"{", b'"', b"1e999", b"null", b"<", b"&", b"</", b"9" * 25, b"\xff", b"\0")
