"""A whole request for a process: its bytes go there, the response's bytes and the times come back.

One message each way on a stream: a header with the lengths, then the parts.
"""

import pickle
import socket
import struct
from typing import Any

from ...workloads.workload import Workload
from ..clock import STAGES, StageClock
from ..strategy import InOrderLoop, run_stages
from .fault import WorkerDiedError, abandon, pack_error

_REQUEST = struct.Struct("!QQ")  # bytes of the pickled workload, of the body
_ANSWER = struct.Struct(f"!?{len(STAGES)}qQ")  # succeeded, ns of each stage, bytes of the rest


def ask(
    channel: socket.socket, workload: Workload[Any, Any], body: bytes, clock: StageClock
) -> bytes:
    """The response body, or the exception that the stages raised there. Raises WorkerDiedError."""
    packed = pickle.dumps(workload)
    try:
        channel.sendall(_REQUEST.pack(len(packed), len(body)) + packed)
        channel.sendall(body)
        succeeded, *elapsed_ns, length = _ANSWER.unpack(_receive(channel, _ANSWER.size))
        answer = _receive(channel, length)
    except (EOFError, ConnectionError) as error:
        raise WorkerDiedError("the process that had this request died") from error
    except BaseException:
        abandon(channel)
        raise
    clock.add(dict(zip(STAGES, elapsed_ns, strict=True)))
    if not succeeded:
        raise pickle.loads(answer)  # noqa: S301 - from our own process
    return answer


def serve(channel: socket.socket) -> None:
    """In the process: requests one after the other until the other end is closed."""
    while True:
        try:
            lengths = _REQUEST.unpack(_receive(channel, _REQUEST.size))
            packed, body = (_receive(channel, length) for length in lengths)
        except (EOFError, ConnectionError):
            return
        channel.sendall(_answer(packed, body))


def _answer(packed: bytes, body: bytes) -> bytes:
    clock = StageClock()
    try:
        succeeded, rest = True, run_stages(pickle.loads(packed), body, InOrderLoop(), clock)  # noqa: S301
    except Exception as error:  # carried to the caller, which decides
        succeeded, rest = False, pack_error(error)
    return _ANSWER.pack(succeeded, *clock.elapsed_ns.values(), len(rest)) + rest


def _receive(channel: socket.socket, length: int) -> bytes:
    data = bytearray(length)
    view, received = memoryview(data), 0
    while received < length:
        count = channel.recv_into(view[received:])
        if count == 0:
            raise EOFError
        received += count
    return bytes(data)
