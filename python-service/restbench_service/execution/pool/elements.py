"""A loop's units as tasks for processes: one unit a task, one message a task, one answer a task.

A process is told of a loop, and shown its arrays, before the first task of it that it gets; when
the same loop comes again, nothing but tasks goes over. Each process always has a few tasks waiting,
so that it need not wait for us between two of them.
"""

import pickle
import select
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ...workloads.workload import Body
from .element_process import DEFINE, DONE, FORGET, HEAD, MAX_MESSAGE_BYTES, TASK, Definition
from .fault import WorkerDiedError, abandon
from .shared_array import SharedArrays

IN_FLIGHT_TASKS = 16
"""Tasks a process has at a time: enough to hide a message's way, far fewer than a socket holds."""
MOST_LOOPS = 256
"""Of a request, that its processes keep in mind; multigrid has some forty."""


class ElementLoops:
    """The loops of one request, and which of them each process has been told of."""

    def __init__(self, arrays: SharedArrays) -> None:
        """Arrays among the arguments must be of `arrays`."""
        self._arrays = arrays
        self._numbers: dict[bytes, int] = {}
        self._told: dict[socket.socket, set[int]] = {}

    def run(
        self, channels: Sequence[socket.socket], units: int, body: Body, arguments: Sequence[Any]
    ) -> None:
        """Every unit done once by one of the processes, or the first error that came back."""
        handles = [self._arrays.handle_of(argument) for argument in arguments]
        definition = pickle.dumps(tuple(Definition(body, handles)))
        if len(definition) > MAX_MESSAGE_BYTES:
            size = len(definition)
            raise ValueError(f"a loop's arguments have {size} bytes: use loop.array for data")
        number = self._number(definition)
        dispatch = _Dispatch(channels, units, number)
        try:
            for channel in channels:
                told = self._told.setdefault(channel, set())
                if number not in told:
                    dispatch.define(channel, definition, self._arrays.show(handles, channel))
                    told.add(number)
            dispatch.run()
        except BaseException:
            for channel in channels:
                abandon(channel)
            raise
        dispatch.raise_failure()

    def forget(self) -> None:
        """Have the processes let go of loops and arrays; none of them may be in a loop."""
        numbers = pickle.dumps(self._arrays.passing_numbers)
        for channel in self._told:
            with suppress(OSError):  # a process that is gone has forgotten
                channel.send(HEAD.pack(FORGET, 0, 0, 0))
                channel.send(numbers)

    def _number(self, definition: bytes) -> int:
        """That of the loop; a new one takes that of the oldest where there are too many."""
        if definition not in self._numbers:
            number = len(self._numbers)
            if number == MOST_LOOPS:
                number = self._numbers.pop(next(iter(self._numbers)))
                for told in self._told.values():
                    told.discard(number)
            self._numbers[definition] = number
        return self._numbers[definition]


class _Dispatch:
    """One run of a loop: who has how many tasks, how many are given, and what went wrong first."""

    def __init__(self, channels: Sequence[socket.socket], units: int, loop: int) -> None:
        self._units = units
        self._loop = loop
        self._given = 0
        self._unanswered = 0
        self._failure: Exception | None = None
        self._channels = {channel.fileno(): channel for channel in channels}
        self._waiting = dict.fromkeys(self._channels, 0)
        self._answers = select.poll()
        for number in self._channels:
            self._answers.register(number, select.POLLIN)

    def define(self, channel: socket.socket, definition: bytes, descriptors: list[int]) -> None:
        """Tell a process of the loop."""
        try:
            channel.send(HEAD.pack(DEFINE, self._loop, 0, 0))
            socket.send_fds(channel, [definition], descriptors)
        except ConnectionError:
            self._lose(channel.fileno())

    def run(self) -> None:
        """Give tasks as answers come; after a failure only the answers still due are awaited."""
        fair_share = -(-self._units // max(1, len(self._channels)))
        for number in list(self._channels):
            for _ in range(
                min(IN_FLIGHT_TASKS, -(-fair_share // 2))
            ):  # the rest to whoever is first
                self._give(number)
        while self._unanswered:
            for number, _ in self._answers.poll():
                self._take(number)
                self._give(number)

    def raise_failure(self) -> None:
        """What went wrong, if something did."""
        if self._failure is not None:
            raise self._failure

    def _give(self, number: int) -> None:
        unit = self._given
        if unit < self._units and self._failure is None and self._send(number, unit):
            self._given += 1
            self._unanswered += 1
            self._waiting[number] += 1

    def _send(self, number: int, unit: int) -> bool:
        if number not in self._channels:
            return False
        try:
            self._channels[number].send(HEAD.pack(TASK, self._loop, unit, unit + 1))
        except ConnectionError:
            self._lose(number)
            return False
        return True

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
        if answer != DONE and self._failure is None:
            self._failure = pickle.loads(answer)  # noqa: S301 - from our own process

    def _lose(self, number: int) -> None:
        """A process died: its tasks will not be answered, so the loop cannot be right."""
        self._answers.unregister(number)
        del self._channels[number]
        self._unanswered -= self._waiting.pop(number)
        self._failure = self._failure or WorkerDiedError("a process that had elements of it died")
