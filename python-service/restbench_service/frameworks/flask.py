"""Flask on gunicorn's threaded worker, both as shipped: what most users of Flask run.

Flask's router knows the paths that compute and gives all others to the core as well, which
compares the path as it was sent. The body is read from the server's stream, piece by piece.
"""

import os
import select
import socket
import struct
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, request
from werkzeug.routing import Rule

from ..core.reply import Reply
from ..core.service import SENT_AT_ONCE_BYTES, UNKNOWN, Core, Exchange, Head, Server
from ..serving import ServingProcess
from ..settings import Settings
from . import server_of

PIECE_BYTES = 1024 * 1024
PIECE_BYTES_OF_UNKNOWN_LENGTH = 64 * 1024
MOST_DROPPED_BYTES = 64 * 1024 * 1024
"""Of a body that is refused, as much as by default may be sent; of a longer one nothing is read,
and the server closes the connection."""
SERVING = "restbench"
"""The name of the ServingProcess in the extensions of application(), for who ends it."""
_GONE = select.POLLRDHUP | select.POLLHUP | select.POLLERR


def application() -> Flask:
    """What gunicorn calls in its worker process."""
    serving = begun()
    app = create_app(serving.core, {})
    app.extensions[SERVING] = serving
    return app


def begun() -> ServingProcess:
    """What the application serves, to be made in the process that serves."""
    settings = Settings.from_environment(os.environ)
    return ServingProcess(settings, Server(settings.framework, server_of(settings.framework)))


def create_app(core: Core, headers: Mapping[str, str]) -> Flask:
    """The WSGI application around the core; every answer has the headers."""
    app = Flask(__name__, static_folder=None)
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # OPTIONS is not part of the contract
    app.url_map.merge_slashes = False
    app.url_map.strict_slashes = False  # or a target without a path is redirected to one

    seconds = core.settings.receive_timeout_seconds
    silence = struct.pack("ll", seconds, 0)

    def handle(**_: str) -> Response:
        environ = request.environ
        connection = environ.get("gunicorn.socket")
        if connection is not None:  # gunicorn waits without end
            _bound_silence(connection, silence)
        reply = _reply(core, environ, connection)
        if connection is not None and len(reply.body) > SENT_AT_ONCE_BYTES:
            connection.settimeout(seconds)  # for all of it, not for each part
        response = Response(reply.body, reply.status, {**reply.headers, **headers})
        response.call_on_close(reply.sent)
        return response

    app.endpoint("core")(handle)
    for path in (*core.paths, "/", "/<path:_>"):
        app.url_map.add(Rule(path, endpoint="core"))  # whatever the method
    for status in (404, 405):  # a line feed is in no pattern of a router
        app.register_error_handler(status, lambda _: handle())
    return app


def _reply(core: Core, environ: dict[str, Any], connection: socket.socket | None) -> Reply:
    head = _head(environ, connection)
    opened = core.open(head)
    if not isinstance(opened, Exchange):
        return _dropping(opened, environ, head.declared_bytes)
    try:
        refused = _read_body(environ, head.declared_bytes, opened)
    except BaseException:
        opened.cut_off()
        raise
    if refused is not None:
        return refused
    delay = opened.delayed()
    if delay is not None:
        delay.wait()  # in its thread: WSGI knows no other way
    return opened.answer()


def _bound_silence(connection: socket.socket, silence: bytes) -> None:
    """A struct timeval, for the kernel: under a timeout of Python's own each receive and each send
    is two system calls, and with each of them the interpreter lock may go to another thread.
    """
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        connection.setsockopt(socket.SOL_SOCKET, option, silence)


def _head(environ: dict[str, Any], connection: socket.socket | None) -> Head:
    length = UNKNOWN if "HTTP_TRANSFER_ENCODING" in environ else environ.get("CONTENT_LENGTH") or 0
    return Head(
        environ["REQUEST_METHOD"],
        *_target(environ),
        environ.get("CONTENT_TYPE"),
        int(length),
        lambda: connection is None or _waits(connection),
    )


def _target(environ: dict[str, Any]) -> tuple[str, str]:
    """Path and query as they were sent; a proxy's way to send them has the host before.

    Granian has the path unescaped only.
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
    """False once the client has closed its end, be it only for sending: see README.

    Asked of the kernel rather than of the socket, whose own timeout would make it wait.
    """
    poll = select.poll()
    poll.register(connection, _GONE)
    return not poll.poll(0)


def _read_body(environ: dict[str, Any], declared: int, exchange: Exchange) -> Reply | None:
    """A reply if the body is refused, or does not come whole."""
    stream, received = environ["wsgi.input"], 0
    while declared == UNKNOWN or received < declared:
        try:
            piece = stream.read(
                PIECE_BYTES_OF_UNKNOWN_LENGTH
                if declared == UNKNOWN
                else min(PIECE_BYTES, declared - received)
            )
        except (
            Exception
        ):  # gunicorn's many: a chunk that is none, the end of the connection, a timeout
            return exchange.cut_off()
        if not piece:
            break
        received += len(piece)
        refused = exchange.take(piece)
        if refused is not None:
            return _dropping(refused, environ, declared)
    return exchange.cut_off() if received < declared else None


def _dropping(refused: Reply, environ: dict[str, Any], declared: int) -> Reply:
    """Once it has been sent, for a client may wait for it before it sends more, what is left of the
    body is read: one that sends all the same reads its answer, not a reset, and the connection
    serves on.
    """

    def sent() -> None:
        refused.sent()
        _drop_body(environ, declared)

    return refused._replace(sent=sent)


def _drop_body(environ: dict[str, Any], declared: int) -> None:
    left = MOST_DROPPED_BYTES if declared <= MOST_DROPPED_BYTES else 0
    try:
        while left > 0 and (piece := environ["wsgi.input"].read(PIECE_BYTES_OF_UNKNOWN_LENGTH)):
            left -= len(piece)
    except Exception:  # it is refused already: gunicorn closes such a connection by itself
        return
