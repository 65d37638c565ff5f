"""Calling strategies: calls one after the other, on a pool of threads, or on one event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import Any, Protocol, cast

from restbench_client.batch import Batch, Cancellation
from restbench_client.call import Call
from restbench_client.model import (
    Answer,
    AsyncSend,
    Job,
    Limits,
    Outcome,
    R,
    Stopped,
    within,
)

MOST_THREADS = 1024
#: Seconds for which an event loop pulls inputs before it handles the answers that have arrived.
PULLS_FOR_S = 0.001


class Exchange(Protocol):
    """Stage C for strategies that hold a thread per call. Several calls and batches may share one
    exchange at a time."""

    def send(self, request: bytes, deadline: float, most_bytes: int, stop: Cancellation) -> Answer:
        """Send a request body and wait for the answer.

        `deadline` is in seconds of time.monotonic(). Raises ExchangeFailure without an answer of at
        most `most_bytes`, and Stopped where `stop` was set, which closes the connection.
        """


class AsyncExchange(Protocol):
    """Stage C for a strategy that holds no thread. Several batches may share one exchange at a
    time."""

    def run(self, work: Callable[[AsyncSend], Coroutine[Any, Any, bool]]) -> None:
        """Run `work` to its end on this thread, in an event loop of its own. `work` returns whether
        the connections may be kept."""


class CallingStrategy(Protocol):
    """A way of making the calls of a batch."""

    name: str

    def start(self, inputs: Iterable[Any], job: Job[Any, Any, R], limits: Limits) -> Batch[R]:
        """Start a batch of one call for each input. The inputs may be pulled on another thread."""


class Sequential:
    """Calls one after the other, on the thread that takes the outcomes."""

    name = "sequential"

    def start(self, inputs: Iterable[Any], job: Job[Any, Any, R], limits: Limits) -> Batch[R]:
        """A batch that makes each call when its outcome is taken (CallingStrategy)."""
        batch = Batch(iter(inputs), job, limits, room=1)
        batch.work = lambda: _one_more(batch, nullcontext())
        return batch


class TaskPool:
    """A pool of threads. Each thread makes one call after the other, from S to P."""

    name = "task-pool"

    def __init__(self, threads: int) -> None:
        """Raises ValueError unless `threads` is from 1 to 1024."""
        self.threads = within("threads", threads, MOST_THREADS)

    def start(self, inputs: Iterable[Any], job: Job[Any, Any, R], limits: Limits) -> Batch[R]:
        """A batch with threads of its own, which end with it (CallingStrategy)."""
        room = self.threads + limits.queue
        batch = Batch(iter(inputs), job, limits, room)
        needs_places = self.threads > limits.in_flight
        places: AbstractContextManager[Any] = (
            threading.Semaphore(limits.in_flight) if needs_places else nullcontext()
        )

        def work() -> None:
            while _one_more(batch, places):
                pass

        for number in range(1, self.threads + 1):
            _begin(batch, "call-pool", number, work)
        return batch


class Async:
    """One thread with an event loop runs S, D and P of all calls and waits for all answers."""

    name = "async"

    def start(self, inputs: Iterable[Any], job: Job[Any, Any, R], limits: Limits) -> Batch[R]:
        """A batch with a thread of its own, which ends with it (CallingStrategy).

        The event loop pulls the inputs, so their iterator must not block.
        """
        room = limits.in_flight + limits.queue
        batch = Batch(iter(inputs), job, limits, room)
        exchange = cast(AsyncExchange, job.exchange)

        def work() -> None:
            try:
                exchange.run(partial(_pump, batch))
            except BaseException as error:
                batch.exhaust(error)
                raise

        _begin(batch, "call-cpu", 1, work)
        return batch


STRATEGIES: dict[str, Callable[[int], CallingStrategy]] = {
    "sequential": lambda _threads: Sequential(),
    "task-pool": TaskPool,
    "async": lambda _threads: Async(),
}


def _begin(batch: Batch[R], name: str, number: int, work: Callable[[], None]) -> None:
    """Start a thread of the batch. Raises RuntimeError where the system has no thread left; the
    batch is closed before."""

    def counted() -> None:
        try:
            work()
        finally:
            batch.leave(name)

    thread = threading.Thread(target=counted, name=f"{name}-{number}", daemon=True)
    batch.enter(name)
    try:
        thread.start()
    except RuntimeError:
        batch.close()
        raise
    batch.workers.append(thread)


def _one_more(batch: Batch[R], places: AbstractContextManager[Any]) -> bool:
    """Make one call on this thread; return False where no input is left."""
    if (pulled := batch.pull()) is None:
        return False
    call = Call(batch, *pulled)
    steps = call.steps()
    try:
        wanted = next(steps)
        while True:
            try:
                answer = _done(call, wanted, places)
            except BaseException as failure:  # becomes the failure of this call
                wanted = steps.throw(failure)
            else:
                wanted = steps.send(answer)
    except StopIteration as end:
        call.end(end.value)
    except KeyboardInterrupt:
        call.end(call.cancelled())
        raise
    return True


def _done(
    call: Call[R], wanted: bytes | float, places: AbstractContextManager[Any]
) -> Answer | None:
    batch = call.batch
    if isinstance(wanted, float):
        batch.cancellation.wait(wanted)
        return None
    with places:
        deadline = call.begin_send()
        try:
            exchange = cast(Exchange, batch.job.exchange)
            most = batch.limits.max_answer_bytes
            return exchange.send(wanted, deadline, most, batch.cancellation)
        finally:
            call.end_send(is_held=True)


async def _pump(batch: Batch[R], send: AsyncSend) -> bool:
    """Run each call as a task, as many at once as there is room for. Return whether no call was cut
    off by a cancel, so that the connections may be kept."""
    loop, room = asyncio.get_running_loop(), asyncio.Event()
    under_way: dict[asyncio.Task[Outcome[R]], Call[R]] = {}
    is_whole = True

    def change() -> None:
        nonlocal is_whole
        room.set()
        if batch.cancellation.is_set():
            is_whole = is_whole and not under_way
            for task in under_way:
                task.cancel()

    def from_any_thread() -> None:
        with suppress(RuntimeError):  # the loop is closed: all calls have ended
            loop.call_soon_threadsafe(change)

    def end(task: asyncio.Task[Outcome[R]]) -> None:
        call = under_way.pop(task)
        # a task that was cancelled before its first step has no outcome
        call.end(call.cancelled() if task.cancelled() else task.result())

    places = asyncio.Semaphore(batch.limits.in_flight)
    batch.wake = from_any_thread
    pulls_until = 0.0
    while True:
        while not batch.has_room:
            room.clear()
            batch.wants_room = True
            if not batch.has_room:
                await room.wait()
                pulls_until = loop.time() + PULLS_FOR_S
        if loop.time() >= pulls_until:
            await asyncio.sleep(0)  # let tasks run whose answers have arrived
            pulls_until = loop.time() + PULLS_FOR_S
        if (pulled := batch.pull()) is None:
            break
        call = Call(batch, *pulled)
        task = loop.create_task(_outcome(call, send, places))
        under_way[task] = call
        task.add_done_callback(end)
    if under_way:
        await asyncio.wait(under_way)
    return is_whole


async def _outcome(call: Call[R], send: AsyncSend, places: asyncio.Semaphore) -> Outcome[R]:
    steps = call.steps()
    try:
        wanted = next(steps)
        while True:
            try:
                answer = await _asked(call, wanted, send, places)
            except asyncio.CancelledError:
                wanted = steps.throw(Stopped())
            except BaseException as failure:  # becomes the failure of this call
                wanted = steps.throw(failure)
            else:
                wanted = steps.send(answer)
    except StopIteration as end:
        outcome: Outcome[R] = end.value
        return outcome


async def _asked(
    call: Call[R], wanted: bytes | float, send: AsyncSend, places: asyncio.Semaphore
) -> Answer | None:
    if isinstance(wanted, float):
        await asyncio.sleep(wanted)
        return None
    async with places:
        deadline = call.begin_send()
        try:
            return await send(wanted, deadline, call.batch.limits.max_answer_bytes)
        finally:
            call.end_send(is_held=False)
