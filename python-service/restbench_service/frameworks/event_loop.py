"""A request in the event loop of any asynchronous framework: receive the body, run, reply.

RESTBENCH_HANDOFF sets where a request runs: on a thread, while the event loop only receives and
sends, or in the event loop itself, where all other requests wait meanwhile.
"""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from ..core.reply import Reply
from ..core.service import UNKNOWN, Core, Exchange, Head, Server
from ..execution.strategy import hand_over
from ..serving import ServingProcess
from ..settings import Settings
from . import server_of

WATCHED_AFTER_S = 0.05
"""When the watch of a client begins: watching can cost as much as a short request."""


def head_of(
    method: str, target: tuple[str, str], headers: Any, is_wanted: Callable[[], bool]
) -> Head:
    """The head of a request. `target` is path and query as they were sent; `headers` has get() and
    `in` for names in lower case.
    """
    is_chunked = "transfer-encoding" in headers
    length = UNKNOWN if is_chunked else int(headers.get("content-length", 0))
    return Head(method, *target, headers.get("content-type"), length, is_wanted)


class Client:
    """Whether the sender of a request still waits for its answer."""

    def __init__(self, leaves: Callable[[], Awaitable[object]]) -> None:
        """`leaves` is called when the body is complete, and returns when the client has gone, even
        if it has gone before the call."""
        self._leaves = leaves
        self._is_here = True
        self._watching: asyncio.Task[None] | None = None

    def waits(self) -> bool:
        """Whether the client still waits; called from any thread."""
        return self._is_here

    def watch(self) -> None:
        """Begin to watch the client."""
        self._watching = asyncio.create_task(self._wait())

    def watch_no_more(self) -> None:
        """End the watch, as the request is answered."""
        if self._watching is not None:
            self._watching.cancel()

    async def _wait(self) -> None:
        await self._leaves()
        self._is_here = False


class BegunError(asyncio.CancelledError):
    """A request was cut off when its work may have begun and others may see its effects."""


class Requests:
    """Answers requests with the core of this process; made by serving()."""

    def __init__(
        self, core: Core, threads: ThreadPoolExecutor | None, broken: tuple[type[Exception], ...]
    ) -> None:
        """Requests run on `threads`, or in the event loop if None. Reading a body that is cut off
        raises an error in `broken`."""
        self.core, self._threads = core, threads
        self._broken: tuple[type[Exception], ...] = (TimeoutError, *broken)

    async def answer(
        self, head: Head, pieces: AsyncIterable[bytes], client: Client | None = None
    ) -> Reply:
        """Receive and run a request. Returns the reply, whose `sent` the framework calls.

        `client` is watched from WATCHED_AFTER_S on while the request waits or runs; None if
        `head.is_wanted` works without a watch.
        """
        opened = self.core.open(head)
        if not isinstance(opened, Exchange):
            return opened
        refused = await self._received(opened, pieces, head.declared_bytes)
        if refused is not None:
            return refused
        if client is None:
            return await self._waited_and_ran(opened)
        later = asyncio.get_running_loop().call_later(WATCHED_AFTER_S, client.watch)
        try:
            return await self._waited_and_ran(opened)
        finally:
            later.cancel()
            client.watch_no_more()

    async def _received(
        self, exchange: Exchange, pieces: AsyncIterable[bytes], declared_bytes: int
    ) -> Reply | None:
        """Receive the body. Returns a reply if it is refused, incomplete or too slow, else None."""
        received = 0
        try:
            async with asyncio.timeout(self.core.settings.receive_timeout_seconds):
                async for piece in pieces:
                    received += len(piece)
                    refused = exchange.take(piece) if piece else None
                    if refused is not None:
                        return refused
        except MemoryError as error:
            return exchange.out_of_memory(error)
        except self._broken:
            return exchange.cut_off()
        except BaseException:
            exchange.cut_off()
            raise
        return exchange.cut_off() if received < declared_bytes else None

    async def _waited_and_ran(self, exchange: Exchange) -> Reply:
        delay = exchange.delayed()
        if delay is not None:
            try:
                over = asyncio.wrap_future(delay.over)
                while left_s := delay.left_s:  # the loop's clock may be a millisecond behind
                    await asyncio.wait((over,), timeout=left_s)
            except BaseException:
                exchange.cut_off()
                raise
        return await self._ran(exchange)

    async def _ran(self, exchange: Exchange) -> Reply:
        """Run the exchange. A run that has begun always ends: if this coroutine is cancelled
        meanwhile, the reply is not sent, and its memory is released.
        """
        replied: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        if self._threads is None:
            begun = exchange.run()
            if isinstance(begun, Reply):
                return begun
            _hand_back(begun, replied)
        else:
            try:
                hand_over(self._threads, lambda: _hand_back(exchange.run(), replied))
            except RuntimeError:  # the pool is closed, or no thread can be started
                return exchange.refused()
        try:
            return await replied
        except asyncio.CancelledError:
            if exchange.is_blocking:
                raise BegunError from None
            raise


def _hand_back(answered: Reply | Future[Reply], replied: asyncio.Future[Reply]) -> None:
    """Pass the reply from any thread to the event loop. This is no closure, since one that refers
    to itself would keep itself and the reply until the next garbage collection.
    """
    if isinstance(answered, Future):
        answered.add_done_callback(lambda done: _hand_back(done.result(), replied))
        return
    with suppress(RuntimeError):  # the loop is closed: the stop has cut this request off
        replied.get_loop().call_soon_threadsafe(_deliver, answered, replied)


def _deliver(reply: Reply, replied: asyncio.Future[Reply]) -> None:
    if replied.done():
        reply.sent()
    else:
        replied.set_result(reply)


@contextmanager
def serving(settings: Settings, *broken: type[Exception]) -> Iterator[Requests]:
    """Serve the core in the with-block, where the pools are ready. `broken` are the errors of the
    framework for a body that is cut off. To be entered in the serving process, before the first
    connection. Raises PoolFailedError.
    """
    facts = Server(settings.framework, server_of(settings.framework), settings.handoff)
    served = ServingProcess(settings, facts)
    threads = None
    try:
        served.await_ready()
        if settings.handoff == "thread":
            threads = ThreadPoolExecutor(settings.threads, "request")
        yield Requests(served.core, threads, broken)
    finally:
        served.close()
        if threads is not None:
            threads.shutdown(wait=False)


def exit_process() -> NoReturn:
    """End this process with exit code 0, even if a thread still runs a request that was cut off."""
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)
