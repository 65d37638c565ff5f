"""FastAPI on uvicorn with uvloop and httptools: what most new services use.

Nothing of FastAPI's own validation or serialisation takes part: the stages of a workload take
bytes, so a service with models costs more than this one. Where a request runs is RESTBENCH_HANDOFF:
in a thread, while the event loop only receives and sends, or in the event loop itself.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.metadata import version

import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from ..core.reply import Reply
from ..core.service import UNKNOWN, Core, Exchange, Head, Server
from ..serving import Serving
from ..settings import Settings


class _Handler:
    """Gives requests to the core, which is made in the serving process."""

    def __init__(self, settings: Settings) -> None:
        """Nothing runs yet."""
        self._settings = settings
        self._core: Core | None = None
        self._threads: ThreadPoolExecutor | None = None

    @asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Before the first connection is taken the pools are ready."""
        facts = Server("fastapi", f"uvicorn {version('uvicorn')}", self._settings.handoff)
        serving = Serving(self._settings, facts)
        try:
            serving.await_ready()
            self._core = serving.core
            if self._settings.handoff == "thread":
                self._threads = ThreadPoolExecutor(self._settings.threads, "request")
            yield
        finally:
            serving.close()
            if self._threads is not None:
                self._threads.shutdown(wait=False)

    async def handle(self, request: Request) -> Response:
        """From the head to the reply."""
        client = _Client()
        opened = self._opened(request, client)
        if isinstance(opened, Exchange):
            reply = await self._finished(request, client, opened)
        else:
            reply = opened
        return _Response(reply)

    async def handle_any(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Whatever the router has no route for."""
        response = await self.handle(Request(scope, receive))
        await response(scope, receive, send)

    def _opened(self, request: Request, client: "_Client") -> Reply | Exchange:
        assert self._core is not None  # noqa: S101 - lifespan comes first
        headers = request.headers
        is_chunked = "transfer-encoding" in headers
        head = Head(
            request.method,
            request.scope["raw_path"].decode("latin-1"),
            request.scope["query_string"].decode("latin-1"),
            headers.get("content-type"),
            UNKNOWN if is_chunked else int(headers.get("content-length", 0)),
            lambda: client.waits,
        )
        return self._core.open(head)

    async def _finished(self, request: Request, client: "_Client", exchange: Exchange) -> Reply:
        try:
            async with asyncio.timeout(self._settings.receive_timeout_seconds):
                async for piece in request.stream():
                    refused = exchange.take(piece) if piece else None
                    if refused is not None:
                        return refused
        except (ClientDisconnect, TimeoutError):
            return exchange.cut_off()
        except BaseException:
            exchange.cut_off()
            raise
        if self._threads is None:
            return await asyncio.wrap_future(exchange.run())
        watching = asyncio.create_task(client.watch(request.receive))
        try:
            running = asyncio.get_running_loop().run_in_executor(self._threads, exchange.run)
            return await asyncio.wrap_future(await running)
        finally:
            watching.cancel()


class _Client:
    """Whether the sender of a request still waits for its answer."""

    waits = True

    async def watch(self, receive: Receive) -> None:
        """After the body nothing comes but the news that the client is gone."""
        await receive()
        self.waits = False


class _Response(Response):
    """Says when it has been sent, or has failed to be."""

    def __init__(self, reply: Reply) -> None:
        """As the core has made it."""
        super().__init__(reply.body, reply.status, reply.headers)
        self._sent = reply.sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._sent()


def create_app(settings: Settings) -> FastAPI:
    """The ASGI application; the path is compared by the core, as it was sent."""
    handler = _Handler(settings)
    app = FastAPI(
        lifespan=handler.lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.post("/{workload}/{strategy}")(handler.handle)
    app.mount("/", handler.handle_any)
    return app


def main() -> None:
    """Serve until TERM or Ctrl-C, then finish what is in flight."""
    settings = Settings.from_environment(os.environ)
    # uvicorn raises the signal again that has ended it; that it did so in order is exit code 0
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda *_: None)
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="on",
        backlog=1024,
        timeout_keep_alive=settings.keep_alive_seconds,
        timeout_graceful_shutdown=settings.stop_timeout_seconds,
        log_level="error",
        access_log=False,
        server_header=False,
    )


if __name__ == "__main__":
    main()
