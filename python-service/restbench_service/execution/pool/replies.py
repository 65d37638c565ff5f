"""What a process says to who gave it something to do."""

import pickle
import socket
import struct
from collections.abc import Sequence
from typing import NamedTuple

from ..clock import STAGES
from .messages import receive, receive_bytes, send, send_parts
from .process import Living

DONE, FAILED, BORROW, GIVE_BACK = range(4)

_HEAD = struct.Struct(f"!B{len(STAGES)}qQ")  # kind, ns of each stage, bytes of the rest
_NO_TIME = dict.fromkeys(STAGES, 0)


class Reply(NamedTuple):
    """DONE with the answer, FAILED with the pickled error; BORROW and GIVE_BACK have nothing."""

    kind: int
    payload: bytes = b""
    elapsed_ns: dict[str, int] = _NO_TIME


def send_reply(channel: socket.socket, reply: Reply) -> None:
    """To the other end."""
    head = _HEAD.pack(reply.kind, *reply.elapsed_ns.values(), len(reply.payload))
    send_parts(channel, head, reply.payload)


def receive_reply(channel: socket.socket) -> Reply:
    """The next one. Raises EOFError and ConnectionError."""
    kind, *elapsed_ns, length = _HEAD.unpack(receive_bytes(channel, _HEAD.size))
    times = dict(zip(STAGES, elapsed_ns, strict=True))
    return Reply(kind, receive_bytes(channel, length), times)


def error_in(reply: Reply) -> Exception | None:
    """What has gone wrong, if something has."""
    if reply.kind != FAILED:
        return None
    error: Exception = pickle.loads(reply.payload)  # noqa: S301 - from our own process
    return error


def borrow(channel: socket.socket) -> list[Living]:
    """In the process: the helpers that it gets, maybe none."""
    send_reply(channel, Reply(BORROW))
    answer = receive(channel)
    if answer is None:
        raise EOFError
    channels = [socket.socket(fileno=descriptor) for descriptor in answer.descriptors]
    return [Living(*each) for each in zip(answer.content, channels, strict=True)]


def send_helpers(channel: socket.socket, helpers: Sequence[Living]) -> None:
    """In the service: the answer to borrow()."""
    pids = [helper.pid for helper in helpers]
    send(channel, pids, descriptors=[helper.channel.fileno() for helper in helpers])
