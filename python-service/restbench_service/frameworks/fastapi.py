"""FastAPI on uvicorn with uvloop and httptools, what most new services use; or under gunicorn's own
ASGI worker.

Nothing of FastAPI's own validation or serialisation takes part: the stages of a workload take
bytes, so a service with models costs more than this one.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from ..core.reply import FAULT, Reply, error, log_fault
from ..core.service import SENT_AT_ONCE_BYTES
from ..settings import Settings
from . import NAMELESS
from .event_loop import BegunError, Client, Requests, head_of, leave, serving


class _Response(Response):
    """Says when it has been sent, or has failed to be."""

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
    """The end of the body is a message of its own: uvicorn waits for a full send buffer before a
    message, not after it."""
    if "body" in message:
        await send({**message, "more_body": True})
        message = {"type": message["type"]}
    await send(message)


def create_app(
    settings: Settings, headers: Mapping[str, str], begin: Callable[[], object] = lambda: None
) -> FastAPI:
    """The ASGI application; the path is compared by the core, as it was sent. Every answer has the
    headers.

    `begin` is called first in the process that serves, where its server has its signal handlers.
    """
    requests: Requests

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        """Before the first connection is taken the pools are ready."""
        nonlocal requests
        begin()
        with serving(settings, ClientDisconnect) as requests:
            yield

    async def handle(request: Request) -> Response:
        client = Client(request.receive)  # after the body nothing comes but that the client is gone
        target = _path(request.scope["raw_path"]), request.scope["query_string"].decode("latin-1")
        head = head_of(request.method, target, request.headers, client.waits)
        try:
            reply = await requests.answer(head, request.stream(), client)
        except BegunError as cut_off:  # by the server, as the stop has lasted as long as it may
            if client.waits():  # or some seconds after its client has gone, as gunicorn does
                log_fault(None, cut_off)
            reply = error("099", FAULT)
        except asyncio.CancelledError:
            reply = error("008", "the service is stopping")
        return _Response(reply, headers)

    async def handle_any(scope: Scope, receive: Receive, send: Send) -> None:
        """Whatever the router has no route for."""
        response = await handle(Request(scope, receive))
        await response(scope, receive, send)

    app = FastAPI(
        lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.post("/{workload}/{strategy}")(handle)
    app.mount("/", handle_any)
    app.router.default = handle_any  # what does not even begin with a slash
    return app


def _path(raw_path: bytes) -> str:
    """As it was sent; a proxy's way to send it has the host before, which gunicorn leaves there."""
    path = raw_path.decode("latin-1")
    if path.startswith("/"):
        return path
    return "/" + path.partition("://")[2].partition("/")[2]


def application() -> FastAPI:
    """What gunicorn calls in its worker process; its lifespan starts and ends the core."""
    return create_app(Settings.from_environment(os.environ), NAMELESS)


def _hear_ctrl_c_as_term() -> None:
    """uvicorn takes a second Ctrl-C as the wish to cut off all that runs."""
    theirs: Any = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGINT, lambda _, frame: theirs(signal.SIGTERM, frame))


def main() -> None:
    """Serve until TERM or Ctrl-C, then finish what is in flight."""
    import uvicorn  # noqa: PLC0415 - fastapi-gunicorn has this application without it

    settings = Settings.from_environment(os.environ)
    # uvicorn raises the signal again that has ended it; that it did so in order is exit code 0
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda *_: None)
    uvicorn.run(
        create_app(settings, {}, _hear_ctrl_c_as_term),
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
    leave()
