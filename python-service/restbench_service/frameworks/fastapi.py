"""FastAPI on uvicorn with uvloop and httptools, what most new services use; or under gunicorn's own
ASGI worker.

FastAPI's own validation and serialisation are not used, since the stages of a workload work on
bytes. So a service with models costs more than this one.
"""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from ..core.reply import FAULT, STOPPING, Reply, error, log_fault
from ..core.service import SENT_AT_ONCE_BYTES
from ..settings import Settings
from . import SERVER_HEADER
from .event_loop import BegunError, Client, Requests, exit_process, head_of, serving

_ENDINGS = (signal.SIGTERM, signal.SIGINT)


class _Response(Response):
    """Calls the reply's `sent` when it has been sent, or when sending has failed."""

    def __init__(self, reply: Reply, headers: Mapping[str, str]) -> None:
        super().__init__(reply.body, reply.status, {**reply.headers, **headers})
        self._sent = reply.sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        is_long = len(self.body) > SENT_AT_ONCE_BYTES
        try:
            await super().__call__(scope, receive, partial(_send_apart, send) if is_long else send)
        finally:
            self._sent()


async def _send_apart(send: Send, message: Message) -> None:
    """Send the end of the body as a separate message: while its send buffer is full, uvicorn waits
    before a message, but not after one."""
    if "body" in message:
        await send({**message, "more_body": True})
        message = {"type": message["type"]}
    await send(message)


def create_app(
    settings: Settings, headers: Mapping[str, str], begin: Callable[[], object] = lambda: None
) -> FastAPI:
    """The ASGI application; the core compares the path as it was sent. Every answer has `headers`.

    `begin` is called first in the serving process, after the server has set its signal handlers.
    """
    requests: Requests

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        """Make the pools ready before the first connection is accepted."""
        nonlocal requests
        begin()
        with serving(settings, ClientDisconnect) as requests:
            yield

    async def handle(request: Request) -> Response:
        client = Client(request.receive)  # after the body it yields only the disconnect
        target = _path(request.scope["raw_path"]), request.scope["query_string"].decode("latin-1")
        head = head_of(request.method, target, request.headers, client.waits)
        try:
            reply = await requests.answer(head, request.stream(), client)
        except BegunError as cut_off:  # by the server, as the stop timeout is over
            if client.waits():  # gunicorn also cuts off requests of clients that have gone
                log_fault(None, cut_off)
            reply = error("099", FAULT)
        except asyncio.CancelledError:
            reply = error("008", STOPPING)
        return _Response(reply, headers)

    async def handle_any(scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request for which the router has no route.

        gunicorn asks whether to accept a WebSocket: it is refused, with gunicorn's own 403.
        """
        if scope["type"] == "websocket":
            await send({"type": "websocket.close"})
            return
        response = await handle(Request(scope, receive))
        await response(scope, receive, send)

    async def handle_other_method(request: Request, _: Exception) -> Response:
        """Handle a request that matches the router's route except in its method."""
        return await handle(request)

    app = FastAPI(
        lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.post("/{workload}/{strategy}")(handle)
    app.add_exception_handler(405, handle_other_method)
    app.router.default = handle_any
    return app


def _path(raw_path: bytes) -> str:
    """The path as it was sent, without scheme and host, which gunicorn leaves in absolute form."""
    path = raw_path.decode("latin-1")
    if path.startswith("/"):
        return path
    return "/" + path.partition("://")[2].partition("/")[2]


def application() -> FastAPI:
    """What gunicorn calls in its worker process; its lifespan starts and ends the core."""
    return create_app(Settings.from_environment(os.environ), SERVER_HEADER)


def _hear_signals() -> None:
    """Handle Ctrl-C like TERM: at a second Ctrl-C uvicorn would cut off all requests. A signal that
    came before uvicorn set its handlers is handled now.
    """
    theirs: Any = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGINT, lambda _, frame: theirs(signal.SIGTERM, frame))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDINGS)


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether to log a record. Writing to a connection that its client has reset is no fault."""
    return not (record.exc_info and "the handler is closed" in str(record.exc_info[1]))


def main() -> None:
    """Serve until TERM or Ctrl-C, then finish what is in flight."""
    import uvicorn  # noqa: PLC0415 - fastapi-gunicorn has this application without it

    settings = Settings.from_environment(os.environ)
    # After an orderly stop uvicorn raises the signal again: ignored, so that the exit code is 0.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDINGS)
    for ending in _ENDINGS:
        signal.signal(ending, lambda *_: None)
    logging.getLogger("uvicorn.error").addFilter(_is_ours)
    uvicorn.run(
        create_app(settings, {}, _hear_signals),
        host=settings.host,
        port=settings.port,
        uds=settings.socket_path,
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
    exit_process()
