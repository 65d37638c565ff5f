"""Flask on gunicorn's threaded worker, both as shipped: what most users of Flask run.

Flask's router has rules for the compute paths and passes all other paths to the core, too, which
compares the path as it was sent. The body is read from the server's stream, piece by piece.
"""

import os
import select
import socket
import struct
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, request
from werkzeug.routing import Rule, WebsocketMismatch

from ..core.reply import Reply
from ..core.service import SENT_AT_ONCE_BYTES, UNKNOWN, Core, Exchange, Head, Server
from ..serving import ServingProcess
from ..settings import Settings
from . import server_of

PIECE_BYTES = 1024 * 1024
PIECE_BYTES_OF_UNKNOWN_LENGTH = 64 * 1024
MOST_DROPPED_BYTES = 64 * 1024 * 1024
"""The largest refused body that is read and dropped, equal to the default limit of a body. Of a
longer one nothing is read, and the server closes the connection."""
SERVING = "restbench"
"""Key of the ServingProcess in the extensions of application(), for gunicorn's hooks."""
_GONE = select.POLLRDHUP | select.POLLHUP | select.POLLERR


def application() -> Flask:
    """What gunicorn calls in its worker process."""
    serving = begun()
    app = create_app(serving.core, {})
    app.extensions[SERVING] = serving
    return app


def begun() -> ServingProcess:
    """Start what the application serves; to be called in the process that serves."""
    settings = Settings.from_environment(os.environ)
    return ServingProcess(settings, Server(settings.framework, server_of(settings.framework)))


def create_app(core: Core, headers: Mapping[str, str]) -> Flask:
    """The WSGI application around the core; every answer has `headers`."""
    app = Flask(__name__, static_folder=None)
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # OPTIONS is not part of the contract
    app.url_map.merge_slashes = False
    app.url_map.strict_slashes = False  # otherwise a target without a path is redirected

    seconds = core.settings.receive_timeout_seconds
    silence = struct.pack("ll", seconds, 0)  # a struct timeval

    def handle(**_: str) -> Response:
        environ = request.environ
        connection = environ.get("gunicorn.socket")
        if connection is not None:  # gunicorn sets no timeout
            # Python's own would need two system calls for each, and each can release the GIL.
            for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                connection.setsockopt(socket.SOL_SOCKET, option, silence)
        reply = _reply(core, environ, connection)
        if connection is not None and len(reply.body) > SENT_AT_ONCE_BYTES:
            connection.settimeout(seconds)  # for the whole answer, not for each part
        response = Response(reply.body, reply.status, {**reply.headers, **headers})
        response.call_on_close(reply.sent)
        return response

    app.endpoint("core")(handle)
    for path in (*core.paths, "/", "/<path:_>"):
        app.url_map.add(Rule(path, endpoint="core"))  # for every method
    # A path with a line feed matches no rule, nor does a request that offers WebSocket.
    for unmatched in (404, 405, WebsocketMismatch):
        app.register_error_handler(unmatched, lambda _: handle())
    return app


def _reply(core: Core, environ: dict[str, Any], connection: socket.socket | None) -> Reply:
    length = UNKNOWN if "HTTP_TRANSFER_ENCODING" in environ else environ.get("CONTENT_LENGTH") or 0
    head = Head(
        environ["REQUEST_METHOD"],
        *_target(environ),
        environ.get("CONTENT_TYPE"),
        int(length),
        lambda: connection is None or _waits(connection),
    )
    opened = core.open(head)
    if not isinstance(opened, Exchange):
        return _dropping(opened, environ, head.declared_bytes)
    try:
        refused = _read_body(environ, head.declared_bytes, opened)
    except MemoryError as error:
        return _dropping(opened.out_of_memory(error), environ, head.declared_bytes)
    except BaseException:
        opened.cut_off()
        raise
    if refused is not None:
        return refused
    delay = opened.delayed()
    if delay is not None:
        delay.wait()  # blocks the request's thread: WSGI has no other way
    return opened.answer()


def _target(environ: dict[str, Any]) -> tuple[str, str]:
    """Path and query as they were sent, without scheme and host of a target in absolute form.

    Granian provides only the unescaped path.
    """
    target: str | None = environ.get("RAW_URI")
    if target is None:
        return environ["PATH_INFO"], environ["QUERY_STRING"]
    if target.startswith("/"):
        path, _, query = target.partition("?")
        return path, query
    parts = urlsplit(target)
    return parts.path, parts.query


def _waits(connection: socket.socket) -> bool:
    """False once the client has closed its connection, or only its sending half: see README.

    This polls the kernel, as a call of the socket would wait for the socket's timeout.
    """
    poll = select.poll()
    poll.register(connection, _GONE)
    return not poll.poll(0)


def _read_body(environ: dict[str, Any], declared: int, exchange: Exchange) -> Reply | None:
    """Read the body. Returns a reply if it is refused or incomplete, else None."""
    stream, received = environ["wsgi.input"], 0
    while declared == UNKNOWN or received < declared:
        try:
            piece = stream.read(
                PIECE_BYTES_OF_UNKNOWN_LENGTH
                if declared == UNKNOWN
                else min(PIECE_BYTES, declared - received)
            )
        except MemoryError:
            raise
        except Exception:  # gunicorn has many: an invalid chunk, the connection's end, a timeout
            return exchange.cut_off()
        if not piece:
            break
        received += len(piece)
        refused = exchange.take(piece)
        if refused is not None:
            return _dropping(refused, environ, declared)
    return exchange.cut_off() if received < declared else None


def _dropping(refused: Reply, environ: dict[str, Any], declared: int) -> Reply:
    """The refusal, after whose sending the rest of the body is read and dropped. So a client that
    goes on sending gets the answer rather than a reset, and the connection stays usable. The
    refusal is sent first, as a client may wait for it before it sends the body.
    """

    def sent() -> None:
        refused.sent()
        left, read = MOST_DROPPED_BYTES, environ["wsgi.input"].read
        with suppress(Exception):  # gunicorn closes such a connection by itself
            while left > 0 and (piece := read(PIECE_BYTES_OF_UNKNOWN_LENGTH)):
                left -= len(piece)

    return refused._replace(sent=sent) if declared <= MOST_DROPPED_BYTES else refused
