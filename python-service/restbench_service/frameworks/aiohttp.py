"""aiohttp on uvloop with its own server: asynchronous, and neither WSGI nor ASGI."""

import asyncio
import logging
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import uvloop
from aiohttp import ClientConnectionResetError, web
from aiohttp.http import HttpProcessingError

from ..process import SOCKET_MODE
from ..settings import Settings
from .event_loop import Requests, exit_process, head_of, serving


def create_app(requests: Requests) -> web.Application:
    """The application; the core compares the path as it was sent."""

    async def handle(request: web.Request) -> web.Response:
        target = request.rel_url.raw_path, request.rel_url.raw_query_string

        def waits() -> bool:
            return request.transport is not None and not request.transport.is_closing()

        head = head_of(request.method, target, request.headers, waits)
        reply = await requests.answer(head, request.content.iter_any())
        response = web.Response(body=reply.body, status=reply.status, headers=reply.headers)
        try:
            with suppress(ConnectionError):  # the client is gone
                await response.prepare(request)
                await response.write_eof()
        finally:
            reply.sent()
        return response

    app = web.Application()
    app.on_response_prepare.append(_drop_name)
    app.router.add_post("/{workload}/{strategy}", handle)
    app.router.add_route("*", "/{rest:(?s:.*)}", handle)  # with line feeds
    return app


async def _drop_name(_: web.Request, response: web.StreamResponse) -> None:
    """Remove the header in which aiohttp names itself and Python with their versions."""
    response.headers.pop("Server", None)


async def _serve(settings: Settings) -> None:
    stopping = asyncio.Event()
    for ending in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(ending, stopping.set)
    # RuntimeError: reading from a connection that is closed, as after a reset
    with serving(settings, web.RequestPayloadError, ConnectionError, RuntimeError) as requests:
        runner = web.AppRunner(
            create_app(requests),
            access_log=None,
            auto_decompress=False,  # a compressed body is not unpacked
            keepalive_timeout=settings.keep_alive_seconds,
            shutdown_timeout=settings.stop_timeout_seconds,
        )
        await runner.setup()
        path = settings.socket_path
        site: web.BaseSite = (
            web.UnixSite(runner, path, backlog=1024)
            if path
            else web.TCPSite(runner, settings.host, settings.port, backlog=1024)
        )
        try:
            await site.start()
            if path:
                Path(path).chmod(SOCKET_MODE)
        except OSError as error:  # the address is in use, or none of this machine's
            sys.exit(error.strerror)
        await stopping.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(settings.stop_timeout_seconds):
                await runner.cleanup()


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether to log a record. Errors about invalid HTTP are not logged: they quote the client. Nor
    is a client that resets its connection before it is told to send its body."""
    theirs = HttpProcessingError | ClientConnectionResetError
    return not (record.exc_info and isinstance(record.exc_info[1], theirs))


def main() -> None:
    """Serve until TERM or Ctrl-C, then finish what is in flight."""
    logging.getLogger("aiohttp.server").addFilter(_is_ours)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(Settings.from_environment(os.environ)))
        exit_process()
