"""A loop in blocks: one for the process that has the request, one for each that helps it.

The helpers are lent by the service: processes of the same pool that are idle. They are asked for
at a loop and given back when the loops are over, or after a moment, so that requests that came
meanwhile are not kept waiting for all of a long computation.
"""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ...workloads.workload import Body
from .arena import Arena
from .fault import WorkerDiedError
from .messages import send
from .process import Living
from .shared_array import SharedArrays, attached
from .shared_memory import Memory

HELD_SECONDS = 0.2
"""Longer than the largest loop of the matrices, and long beside what it costs to ask."""


class Block(NamedTuple):
    """A part of a loop for a helper: the units start <= unit < stop."""

    body: Body
    arguments: Sequence[Any]
    start: int
    stop: int


class Forget(NamedTuple):
    """The request has no more use for its arrays of these numbers here."""

    numbers: Sequence[int]


class Helper:
    """What a process keeps between the blocks that it helps with: the memory it was shown."""

    def __init__(self) -> None:
        """None yet."""
        self._known: dict[int, Memory] = {}

    def run(self, block: Block, descriptors: list[int]) -> None:
        """Raises what the body raises."""
        arguments = attached(block.arguments, descriptors, self._known)
        block.body(block.start, block.stop, *arguments)

    def forget(self, order: Forget) -> None:
        """Let go of the arrays."""
        for number in order.numbers:
            self._known.pop(number, None)


class Lender(NamedTuple):
    """How a process asks the service for helpers and gives them back."""

    arena: Arena
    """Where the arrays lie that they share."""
    borrow: Callable[[], list[Living]]
    give_back: Callable[[], None]
    outcome: Callable[[socket.socket], Exception | None]
    """What became of a helper's block. Raises EOFError and ConnectionError."""


class TeamLoop:
    """The loops of one request: cut into as many blocks as there are processes for them."""

    def __init__(self, lender: Lender) -> None:
        """Nobody is borrowed until the first loop."""
        self._lender = lender
        self._arrays = SharedArrays(lender.arena)
        self._helpers: list[Living] = []
        self._ask_again = 0.0

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
        """See Loop."""
        return self._arrays.create(shape, dtype)

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:
        """See Loop."""
        if monotonic() >= self._ask_again:
            self.dismiss()
            self._helpers = self._lender.borrow()
            self._ask_again = monotonic() + HELD_SECONDS
        own, *others = _cut(units, units_per_task, 1 + len(self._helpers))
        handles = [self._arrays.handle_of(argument) for argument in arguments]
        asked = [
            self._give(helper, Block(body, handles, *block))
            for helper, block in zip(self._helpers, others, strict=False)
        ]
        errors = [_error_of(body, *own, *arguments), *(self._outcome(each) for each in asked)]
        for error in errors:
            if error is not None:
                raise error

    def dismiss(self) -> None:
        """Give the helpers back; the arrays stay."""
        if not self._helpers:
            return
        order = Forget(self._arrays.passing_numbers)
        for helper in self._helpers:
            self._arrays.forgotten(helper.pid)
            with helper.channel, suppress(ConnectionError):  # one that is gone has forgotten
                send(helper.channel, order)
        self._helpers = []
        self._lender.give_back()

    def close(self) -> None:
        """End of the request."""
        self.dismiss()
        self._arrays.close()

    def _give(self, helper: Living, block: Block) -> socket.socket | None:
        """None if it has died."""
        descriptors = self._arrays.show(block.arguments, helper.pid)
        try:
            send(helper.channel, block, descriptors=descriptors)
        except ConnectionError:
            return None
        return helper.channel

    def _outcome(self, helper: socket.socket | None) -> Exception | None:
        try:
            if helper is not None:
                return self._lender.outcome(helper)
        except (EOFError, ConnectionError):
            pass
        return WorkerDiedError("a process that helped with it died")


@contextmanager
def team_loop(lender: Lender) -> Iterator[TeamLoop]:
    """For the with-block."""
    loop = TeamLoop(lender)
    try:
        yield loop
    finally:
        loop.close()


def _error_of(body: Body, *arguments: Any) -> Exception | None:
    """The helpers have to be heard before it is raised, or their answers would be left over."""
    try:
        body(*arguments)
    except Exception as error:  # raised by the caller
        return error
    return None


def _cut(units: int, units_per_task: int, processes: int) -> list[tuple[int, int]]:
    """Blocks of whole tasks, as equal as that allows; one at least, none empty but the only one."""
    tasks = -(-units // units_per_task)
    blocks = max(1, min(processes, tasks))
    edges = [min(units, tasks * block // blocks * units_per_task) for block in range(blocks + 1)]
    return list(pairwise(edges))
