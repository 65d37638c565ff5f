"""Granian around an application: workers with one event loop each, HTTP/1.1 alone."""

import signal
import socket
import sys
from multiprocessing import parent_process

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels

from ..metrics_folder import remove_folder
from ..process import die_with_parent
from ..settings import Settings


def serve(application: str, interface: Interfaces, settings: Settings) -> None:
    """Until TERM or Ctrl-C, then finish what is in flight.

    `application` is module:function; Granian calls the function in the worker.
    """
    address = _free_address(settings)
    server = Granian(
        application,
        address=address,
        port=settings.port,
        interface=interface,
        workers=settings.workers,
        factory=True,
        # Of WSGI a thread for each request, made when needed; others take no more than one.
        blocking_threads=settings.threads if interface is Interfaces.WSGI else 1,
        loop=Loops.uvloop,
        http=HTTPModes.http1,
        websockets=False,
        backlog=1024,
        backpressure=settings.connections,
        # For a head, and for an idle connection: the server has one time for both.
        http1_settings=HTTP1Settings(header_read_timeout=settings.keep_alive_seconds * 1000),
        log_level=LogLevels.error,
        respawn_failed_workers=True,
        workers_kill_timeout=settings.stop_timeout_seconds,
    )
    try:
        server.serve()
    finally:
        remove_folder()


def begin_worker() -> None:
    """To be called first in a worker.

    The kernel ends it with Granian's main process, in whatever way that ends. Until Granian has
    its own handlers, those of the main process would take a stop for theirs, and it would be lost.
    """
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, signal.SIG_DFL)
    parent = parent_process()
    assert parent is not None and parent.pid is not None  # noqa: S101 - this is a worker
    die_with_parent(parent.pid)


def _free_address(settings: Settings) -> str:
    """Of the host, as a number. Ends the process where the port is taken.

    Granian's sockets share a port with any other service of the same user that shares it too.
    """
    try:
        family, *_, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )[0]
        with socket.create_server(address, family=family):
            return str(address[0])
    except OSError as error:
        sys.exit(f"{settings.host}:{settings.port}: {error.strerror}")
