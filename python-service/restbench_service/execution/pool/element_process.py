"""In a process of elements: the messages it understands, and what it does about them.

The sockets keep messages apart (SOCK_SEQPACKET). All have the size of a HEAD; behind one that says
so comes a pickled object. What all tasks of a loop share, its body and arguments, is told once and
kept under a number, with the memory of the arrays among them, until the request is over.
"""

import os
import pickle
import socket
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...workloads.workload import Body
from .fault import pack_error
from .shared_array import attached
from .shared_memory import Memory

HEAD = struct.Struct("!Bqqq")
"""What to do, the loop's number, and for a task its first unit and the one after its last."""
TASK, DEFINE, FORGET = range(3)
"""Behind DEFINE comes a Definition, with descriptors; behind FORGET the numbers of memory."""
DONE = b"D"
"""The answer to a task that went well; otherwise it is the pickled error."""
MAX_MESSAGE_BYTES = 65_536
"""Of what comes behind a head, and of an error."""
MAX_ARRAYS = 16


class Definition(NamedTuple):
    """What the tasks of a loop share, with handles in the place of arrays."""

    body: Body
    arguments: Sequence[Any]


def serve(channel: socket.socket) -> None:
    """Do what the messages say until the other end is closed."""
    process = _ElementProcess(channel)
    # read(2), not recv(2): the kernel counts a process's reads, so anybody can see in /proc that a
    # task is a message.
    while head := os.read(channel.fileno(), HEAD.size):
        action, number, start, stop = HEAD.unpack(head)
        if action == TASK:
            channel.send(process.run(number, start, stop))
        elif action == DEFINE:
            process.define(number)
        else:
            process.forget()


class _ElementProcess:
    """The loops it knows, and the memory it was shown."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._loops: dict[int, Definition] = {}
        self._memory: dict[int, Memory] = {}

    def run(self, number: int, start: int, stop: int) -> bytes:
        """The answer."""
        body, arguments = self._loops[number]
        try:
            body(start, stop, *arguments)
        except Exception as error:  # carried to the caller, which decides
            return pack_error(error)
        return DONE

    def define(self, number: int) -> None:
        packed, descriptors, _, _ = socket.recv_fds(self._channel, MAX_MESSAGE_BYTES, MAX_ARRAYS)
        body, arguments = pickle.loads(packed)  # noqa: S301 - from our own service
        self._loops[number] = Definition(body, attached(arguments, descriptors, self._memory))

    def forget(self) -> None:
        """The loops, with whatever arrays they have, and that memory."""
        self._loops.clear()
        for number in pickle.loads(self._channel.recv(MAX_MESSAGE_BYTES)):  # noqa: S301 - as above
            self._memory.pop(number, None)
