"""A bare handler on Granian's RSGI: no framework, what a compiled HTTP server leaves to do."""

import os
from asyncio import AbstractEventLoop
from collections.abc import AsyncIterator
from contextlib import ExitStack

from granian.constants import Interfaces
from granian.rsgi import HTTPProtocol, ProtocolClosed, ProtocolError, Scope

from ..settings import Settings
from . import NAMELESS
from .event_loop import Client, head_of, serving
from .granian_server import begin_worker, on_ending, serve

SHORT_BYTES = 256 * 1024
"""Of a body that is taken in one piece: each await of a piece is a way through three threads of
Granian, which itself keeps up to 400 KiB of a body. One in chunks is taken piece by piece, for it
may never end; its pieces end alike whether or not it was cut off."""


class Handler:
    """The application as RSGI has it."""

    def __init__(self, settings: Settings) -> None:
        """Before the first connection is taken the pools are ready."""
        self._running = ExitStack()
        broken = (ProtocolError, ProtocolClosed)
        self._requests = self._running.enter_context(serving(settings, *broken))
        on_ending(self._requests.stop_waiting)

    def __rsgi_del__(self, _: AbstractEventLoop) -> None:
        """After the last answer."""
        self._running.close()

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        """From the head to the reply."""
        client = Client(protocol.client_disconnect)
        target = scope.path, scope.query_string
        head = head_of(scope.method, target, scope.headers, client.waits)
        is_short = 0 <= head.declared_bytes <= SHORT_BYTES
        pieces = _whole(protocol) if is_short else protocol
        reply = await self._requests.answer(head, pieces, client)
        try:
            headers = [*reply.headers.items(), *NAMELESS.items()]
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
