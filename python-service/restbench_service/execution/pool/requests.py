"""A request for a process: its bytes go there, the response's bytes and the times come back.

The process may ask for others to help it before it answers; see `team`.
"""

import pickle
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from math import inf
from time import perf_counter_ns, thread_time_ns
from typing import Any, NamedTuple

from ...workloads.workload import Workload
from ..clock import StageClock
from ..strategy import InOrderLoop, compute, parse, serialize
from . import replies
from .arena import Arena
from .fault import WorkerDiedError, abandon, pack_error
from .messages import Message, receive, send
from .priority import LowPriorityThread
from .process import Living
from .replies import Reply, receive_reply, send_reply
from .team import Block, Forget, Helper, Lender, team_loop

_ARENA = Arena(64 * 2**20)
"""In a process, for what it shares with helpers: two times three arrays of 1000 x 1000 numbers."""

Lend = Callable[[], AbstractContextManager[list[Living]]]
"""Processes for the with-block that nobody else uses."""


class Errand(NamedTuple):
    """What a process is to do, with the bytes that come with it."""

    workload: Workload[Any, Any]
    is_parsed: bool = False
    """The bytes are the pickled input, not the body."""
    is_long: bool = False
    """All of it is to be done at low priority."""
    long_from: float = inf
    """Operations from which at least compute and serialize are."""
    shared_from: float = inf
    """Operations from which it asks for helpers; with fewer its loops run in order."""
    counts_cpu_time: bool = False
    """The times that come back are of the CPU, not of the wall."""


def ask(
    channel: socket.socket,
    errand: Errand,
    payload: bytes,
    clock: StageClock,
    lend: Lend | None = None,
) -> bytes:
    """The response body, or the exception that the stages raised there. Raises WorkerDiedError.

    `lend` is where helpers come from, if the errand may ask for some.
    """
    try:
        send(channel, errand, payload)
        while (reply := receive_reply(channel)).kind == replies.BORROW and lend is not None:
            _lend_until_given_back(channel, lend)
    except BaseException as error:
        abandon(channel)
        if isinstance(error, EOFError | ConnectionError):
            raise WorkerDiedError("the process that had this request died") from error
        raise
    clock.add(reply.elapsed_ns)
    if reply.kind == replies.FAILED:
        raise pickle.loads(reply.payload)  # noqa: S301 - from our own process
    return reply.payload


def _lend_until_given_back(channel: socket.socket, lend: Lend) -> None:
    """Raises EOFError and ConnectionError; what the helpers still do is lost then."""
    with lend() as helpers:
        try:
            replies.send_helpers(channel, helpers)
            if helpers:
                receive_reply(channel)
        except BaseException:
            for helper in helpers:
                abandon(helper.channel)
            raise


def serve(channel: socket.socket) -> None:
    """In the process: one message after the other until the other end is closed."""
    helper, low_priority = Helper(), LowPriorityThread()
    while (message := _next(channel)) is not None:
        content = message.content
        if isinstance(content, Forget):
            helper.forget(content)
        elif isinstance(content, Block):
            low_priority.run(_help, channel, helper, message)
        elif content.is_long:
            low_priority.run(_answer, channel, message, None)
        else:
            _answer(channel, message, low_priority)


def _next(channel: socket.socket) -> Message | None:
    try:
        return receive(channel)
    except (EOFError, ConnectionError):
        return None


def _help(channel: socket.socket, helper: Helper, message: Message) -> None:
    try:
        helper.run(message.content, message.descriptors)
    except Exception as error:  # carried to the process that asked, which decides
        send_reply(channel, Reply(replies.FAILED, pack_error(error)))
    else:
        send_reply(channel, Reply(replies.DONE))


def _answer(
    channel: socket.socket, message: Message, low_priority: LowPriorityThread | None
) -> None:
    """`low_priority` is None where that is where it runs already."""
    now_ns = thread_time_ns if message.content.counts_cpu_time else perf_counter_ns
    clock = StageClock(now_ns=now_ns)
    try:
        kind, rest = replies.DONE, _stages(channel, message, clock, low_priority)
    except Exception as error:  # carried to the caller, which decides
        kind, rest = replies.FAILED, pack_error(error)
    send_reply(channel, Reply(kind, rest, clock.elapsed_ns))


def _stages(
    channel: socket.socket,
    message: Message,
    clock: StageClock,
    low_priority: LowPriorityThread | None,
) -> bytes:
    errand: Errand = message.content
    workload, payload = errand.workload, message.payload
    value = pickle.loads(payload) if errand.is_parsed else parse(workload, payload, clock)  # noqa: S301
    operations = workload.operations(value)
    lender = _lender(channel) if operations >= errand.shared_from else None
    if low_priority is None or operations < errand.long_from:
        return _rest(workload, value, lender, clock)
    return low_priority.run(_rest, workload, value, lender, clock)


def _rest(
    workload: Workload[Any, Any], value: Any, lender: Lender | None, clock: StageClock
) -> bytes:
    """What follows parse; with a lender the loops run in blocks."""
    if lender is None:
        result = compute(workload, value, InOrderLoop(), clock)
        return serialize(workload, result, clock)
    with team_loop(lender) as loop:
        result = compute(workload, value, loop, clock)
        loop.dismiss()
        return serialize(workload, result, clock)


def _lender(channel: socket.socket) -> Lender:
    return Lender(
        _ARENA,
        lambda: replies.borrow(channel),
        lambda: send_reply(channel, Reply(replies.GIVE_BACK)),
        lambda helper: replies.error_in(receive_reply(helper)),
    )
