"""Clients that misbehave, each on its own connection: slow, silent, vanished, not reading."""

from __future__ import annotations

import contextlib
import ctypes
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from restbench.cell import Shape
from restbench_robustness.overload.mix import LOW, valid

#: <asm-generic/socket.h>; Python's socket module does not name it.
_SO_ATTACH_FILTER = 26
#: <linux/filter.h>: with the operand 0, keep no byte of whatever arrives.
_BPF_RETURN = 0x06
_RECEIVE_BUFFER_BYTES = 4096
CONNECT_TIMEOUT_S = 10.0
#: A column times a row: little to compute, several MB of answer, far more than any socket buffers.
_BROAD = Shape(rows=1000, inner=1, columns=1000)

Address = tuple[str, int]


class Client:
    """A connection that has sent the beginning of something. `slowly` is what it sends by bytes."""

    def __init__(self, address: Address, at_once: bytes, slowly: bytes = b"") -> None:
        """Connects and sends `at_once`."""
        self.socket = socket.socket()
        self.socket.settimeout(CONNECT_TIMEOUT_S)
        # Small, so that an answer that nobody reads soon fills what lies between.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
        self.socket.connect(address)
        with contextlib.suppress(OSError):  # a service may answer and close before it has read all
            self.socket.sendall(at_once)
        self._slowly = iter(slowly)

    def send_one_byte(self) -> None:
        """The next byte; nothing where all are sent, or where the other side has closed."""
        byte = next(self._slowly, None)
        if byte is not None:
            with contextlib.suppress(OSError):
                self.socket.send(bytes([byte]))

    def fall_deaf(self) -> None:
        """Vanish without a word, as if the cable were cut: what arrives is dropped unanswered.

        No acknowledgement, no FIN, no RST. Works without privileges, unlike a dropped link.
        """
        instruction = ctypes.create_string_buffer(struct.pack("HBBI", _BPF_RETURN, 0, 0, 0))
        program = struct.pack("HL", 1, ctypes.addressof(instruction))
        self.socket.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)

    def reset(self) -> None:
        """Close with a RST rather than a FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


Make = Callable[[Address, str], Client]


def slow_head(address: Address, path: str) -> Client:
    """Sends the head of a request byte by byte, without end."""
    return Client(address, f"POST {path} HTTP/1.1\r\n".encode(), b"X-Slow: " + b"a" * 4000)


def slow_body(address: Address, path: str) -> Client:
    """Announces a body and sends it byte by byte."""
    body = valid("low", LOW).request(1).body
    return Client(address, _head(path, f"Content-Length: {len(body)}"), body)


def slow_chunks(address: Address, path: str) -> Client:
    """Sends a body in chunks, byte by byte."""
    return Client(address, _head(path, "Transfer-Encoding: chunked"), b"1\r\n \r\n" * 1000)


def silent(address: Address, path: str) -> Client:  # noqa: ARG001 - as the others
    """Connects and sends nothing."""
    return Client(address, b"")


def deaf_in_body(address: Address, path: str) -> Client:
    """Vanishes without a word in the middle of its body."""
    client = slow_body(address, path)
    client.fall_deaf()
    return client


def gone_in_body(address: Address, path: str) -> Client:
    """Closes in the middle of its body."""
    client = slow_body(address, path)
    client.socket.close()
    return client


def never_reading(address: Address, path: str) -> Client:
    """Asks for several megabytes and reads none of them."""
    body = valid("broad", _BROAD).request(1).body
    native = f"{path}?kernel=native"
    return Client(address, _head(native, f"Content-Length: {len(body)}") + body)


def deaf_in_answer(address: Address, path: str) -> Client:
    """Vanishes without a word when the answer has begun to come."""
    client = never_reading(address, path)
    _await_answer(client)
    client.fall_deaf()
    return client


def reset_in_answer(address: Address, path: str) -> Client:
    """Resets the connection when the answer has begun to come."""
    client = never_reading(address, path)
    _await_answer(client)
    client.reset()
    return client


def _await_answer(client: Client) -> None:
    with contextlib.suppress(OSError):
        client.socket.settimeout(60)
        client.socket.recv(1, socket.MSG_PEEK)


def _head(path: str, length: str) -> bytes:
    lines = f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json", length
    return "\r\n".join((*lines, "", "")).encode()


@contextmanager
def crowd(make: Make, number: int, address: Address, path: str) -> Iterator[list[Client]]:
    """So many of them; whatever is left of them is closed at the end."""
    clients: list[Client] = []
    try:
        for _ in range(number):
            clients.append(make(address, path))
        yield clients
    finally:
        for client in clients:
            with contextlib.suppress(OSError):
                client.reset()
