"""A bare handler on Granian's RSGI, without a framework: the lower bound of the cost."""

import os
from asyncio import AbstractEventLoop
from collections.abc import AsyncIterator
from contextlib import ExitStack

from granian.constants import Interfaces
from granian.rsgi import HTTPProtocol, ProtocolClosed, ProtocolError, Scope

from ..settings import Settings
from . import SERVER_HEADER
from .event_loop import Client, head_of, serving
from .granian_server import begin_worker, on_ending, serve

SHORT_BYTES = 256 * 1024
"""The largest body that is received in one piece: each await of a piece passes through three
threads of Granian, which itself buffers up to 400 KiB of a body. A chunked body is received in
pieces, as it may never end; it looks complete even if it was cut off."""


class Handler:
    """The RSGI application."""

    def __init__(self, settings: Settings) -> None:
        """Make the pools ready before the first connection is accepted."""
        self._running = ExitStack()
        broken = (ProtocolError, ProtocolClosed)
        self._requests = self._running.enter_context(serving(settings, *broken))
        on_ending(self._requests.core.delays.stop)

    def __rsgi_del__(self, _: AbstractEventLoop) -> None:
        """Called by Granian after the last answer."""
        self._running.close()

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        """Answer one request."""
        client = Client(protocol.client_disconnect)
        target = scope.path, scope.query_string
        head = head_of(scope.method, target, scope.headers, client.waits)
        is_short = 0 <= head.declared_bytes <= SHORT_BYTES
        pieces = _whole(protocol) if is_short else protocol
        reply = await self._requests.answer(head, pieces, client)
        try:
            headers = [*reply.headers.items(), *SERVER_HEADER.items()]
            protocol.response_bytes(reply.status, headers, reply.body)
        finally:
            reply.sent()


async def _whole(protocol: HTTPProtocol) -> AsyncIterator[bytes]:
    """A body in one piece. Raises ProtocolError where it was cut off."""
    yield await protocol()


def application() -> Handler:
    """What Granian calls in its worker process."""
    begin_worker()
    return Handler(Settings.from_environment(os.environ))


def main() -> None:
    """Serve until TERM or Ctrl-C, then finish what is in flight."""
    serve(f"{__name__}:application", Interfaces.RSGI)
