"""What goes over a process's stream: an object, the bytes that follow it, descriptors beside it."""

import pickle
import socket
import struct
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

MAX_DESCRIPTORS = 64

_HEAD = struct.Struct("!QQ")  # bytes of the pickled object, of what follows


class Message(NamedTuple):
    """As it came. The descriptors are the receiver's to close."""

    content: Any
    payload: bytes
    descriptors: list[int]


def send(
    channel: socket.socket, content: Any, payload: bytes = b"", descriptors: Sequence[int] = ()
) -> None:
    """Raises ConnectionError when the other end is closed."""
    packed = pickle.dumps(content)
    head = _HEAD.pack(len(packed), len(payload)) + packed
    send_parts(channel, head, payload, descriptors)


def send_parts(
    channel: socket.socket, head: bytes, payload: bytes, descriptors: Sequence[int] = ()
) -> None:
    """Both as one, so that the receiver is woken once, and without a copy of the payload."""
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", descriptors))
    sent = channel.sendmsg([head, payload], [rights] if descriptors else [])
    if sent < len(head):
        channel.sendall(head[sent:])
        sent = len(head)
    if sent < len(head) + len(payload):
        channel.sendall(memoryview(payload)[sent - len(head) :])


def receive(channel: socket.socket) -> Message | None:
    """None when the other end is closed. Raises EOFError when it is closed within a message."""
    head, descriptors, _, _ = socket.recv_fds(channel, _HEAD.size, MAX_DESCRIPTORS)
    if not head:
        return None
    head += receive_bytes(channel, _HEAD.size - len(head))
    packed, payload = (receive_bytes(channel, length) for length in _HEAD.unpack(head))
    return Message(pickle.loads(packed), payload, descriptors)  # noqa: S301 - from our own service


def receive_bytes(channel: socket.socket, length: int) -> bytes:
    """So many, copied once, by the kernel. Raises EOFError."""
    data = channel.recv(length, socket.MSG_WAITALL) if length else b""
    while len(data) < length:  # a signal may have interrupted it
        more = channel.recv(length - len(data), socket.MSG_WAITALL)
        if not more:
            raise EOFError
        data += more
    return data
