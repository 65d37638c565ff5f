"""A loop's units as tasks for processes: one unit a task, one message a task, one answer a task.

The sockets keep messages apart (SOCK_SEQPACKET). What all tasks of a loop share, the body and its
arguments, is sent to each process once; beside it, as descriptors, arrays that the process has not
seen in a loop before. It keeps them until it is told that the request is over. Then tasks flow:
each process always has a few waiting, so that it need not wait for us between two of them.
"""

import os
import pickle
import select
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ...workloads.workload import Body
from .fault import WorkerDiedError, abandon, pack_error
from .shared_array import SharedArrays, attached

IN_FLIGHT_TASKS = 16
"""Tasks a process has at a time: enough to hide a message's way, far fewer than a socket holds."""
MAX_MESSAGE_BYTES = 65_536
"""Of the loop's begin and of an error; a task has 16 bytes, an answer one."""
MAX_ARRAYS = 16

_TASK = struct.Struct("!qq")  # start, stop
_END, _DONE = b"E", b"D"


class _Begin(NamedTuple):
    body: Body
    arguments: Sequence[Any]


class _Forget(NamedTuple):
    numbers: Sequence[int]


def run_loop(
    channels: Sequence[socket.socket],
    units: int,
    body: Body,
    arguments: Sequence[Any],
    arrays: SharedArrays,
) -> None:
    """Every unit done once by one of the processes, or the first error that came back.

    Arrays among the arguments must be of `arrays`.
    """
    handles = [arrays.handle_of(argument) for argument in arguments]
    message = pickle.dumps(_Begin(body, handles))
    if len(message) > MAX_MESSAGE_BYTES:
        raise ValueError(f"a loop's arguments have {len(message)} bytes: use loop.array for data")
    dispatch = _Dispatch(channels, units)
    try:
        dispatch.begin(message, {channel: arrays.show(handles, channel) for channel in channels})
        dispatch.run()
    except BaseException:
        for channel in channels:
            abandon(channel)
        raise
    dispatch.end()


def forget(arrays: SharedArrays) -> None:
    """Have the processes let go of the arrays; none of them may be in a loop."""
    message = pickle.dumps(_Forget(arrays.passing_numbers))
    for channel in arrays.shown_to:
        with suppress(OSError):  # a process that is gone has forgotten
            channel.send(message)


class _Dispatch:
    """One loop: who has how many tasks, how many are given, and what went wrong first."""

    def __init__(self, channels: Sequence[socket.socket], units: int) -> None:
        self._units = units
        self._given = 0
        self._unanswered = 0
        self._failure: Exception | None = None
        self._channels = {channel.fileno(): channel for channel in channels}
        self._waiting = dict.fromkeys(self._channels, 0)
        self._answers = select.poll()
        for number in self._channels:
            self._answers.register(number, select.POLLIN)

    def begin(self, message: bytes, descriptors: dict[socket.socket, list[int]]) -> None:
        for number, channel in list(self._channels.items()):
            try:
                socket.send_fds(channel, [message], descriptors[channel])
            except ConnectionError:
                self._lose(number)

    def run(self) -> None:
        """Give tasks as answers come; after a failure only the answers still due are awaited."""
        for number in list(self._channels) * IN_FLIGHT_TASKS:
            self._give(number)
        while self._unanswered:
            for number, _ in self._answers.poll():
                self._take(number)
                self._give(number)

    def end(self) -> None:
        """Tell the processes; raise what went wrong."""
        for number in list(self._channels):
            self._send(number, _END)
        if self._failure is not None:
            raise self._failure

    def _give(self, number: int) -> None:
        unit = self._given
        if (
            unit < self._units
            and self._failure is None
            and self._send(number, _TASK.pack(unit, unit + 1))
        ):
            self._given += 1
            self._unanswered += 1
            self._waiting[number] += 1

    def _take(self, number: int) -> None:
        try:
            answer = self._channels[number].recv(MAX_MESSAGE_BYTES)
        except ConnectionError:
            answer = b""
        if not answer:
            self._lose(number)
            return
        self._unanswered -= 1
        self._waiting[number] -= 1
        if answer != _DONE and self._failure is None:
            self._failure = pickle.loads(answer)  # noqa: S301 - from our own process

    def _send(self, number: int, message: bytes) -> bool:
        if number not in self._channels:
            return False
        try:
            self._channels[number].send(message)
        except ConnectionError:
            self._lose(number)
            return False
        return True

    def _lose(self, number: int) -> None:
        """A process died: its tasks will not be answered, so the loop cannot be right."""
        self._answers.unregister(number)
        del self._channels[number]
        self._unanswered -= self._waiting.pop(number)
        self._failure = self._failure or WorkerDiedError("a process that had elements of it died")


def serve(channel: socket.socket) -> None:
    """In the process: loops one after the other until the other end is closed."""
    arrays: dict[int, Any] = {}
    is_open = True
    while is_open:
        packed, descriptors, _, _ = socket.recv_fds(channel, MAX_MESSAGE_BYTES, MAX_ARRAYS)
        message = pickle.loads(packed) if packed else None  # noqa: S301 - from our own service
        if isinstance(message, _Begin):
            arguments = attached(message.arguments, descriptors, arrays)
            is_open = _serve_loop(channel, message.body, arguments)
            del arguments  # or they would outlive the order to forget them
        elif isinstance(message, _Forget):
            for number in message.numbers:
                arrays.pop(number, None)
        else:
            is_open = False


def _serve_loop(channel: socket.socket, body: Body, arguments: list[Any]) -> bool:
    """Tasks until the loop's end. False when the other end is closed."""
    # read(2), not recv(2): the kernel counts a process's reads, so anybody can see in /proc that a
    # task is a message.
    while task := os.read(channel.fileno(), _TASK.size):
        if task == _END:
            return True
        start, stop = _TASK.unpack(task)
        try:
            body(start, stop, *arguments)
        except Exception as error:  # carried to the caller, which decides
            channel.send(pack_error(error))
        else:
            channel.send(_DONE)
    return False
