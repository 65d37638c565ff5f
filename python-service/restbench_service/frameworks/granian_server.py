"""Granian around an application: workers with one event loop each, HTTP/1.1 alone."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing import active_children, parent_process
from pathlib import Path
from threading import Thread

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels

from ..process import SOCKET_MODE, die_with_parent, free_address, remove_metrics_folder
from ..settings import Settings

_ENDINGS = (signal.SIGTERM, signal.SIGINT)
_ABOUT_TO_END = signal.SIGUSR1
"""Sent to the workers before Granian stops them: no hook of Granian runs before the last answer."""


def serve(application: str, interface: Interfaces) -> None:
    """Serve until TERM or Ctrl-C, then finish what is in flight.

    `application` is module:function; Granian calls the function in the worker.
    """
    settings = Settings.from_environment(os.environ)
    path = settings.socket_path
    server = Granian(
        application,
        address="" if path else free_address(settings.host, settings.port),
        port=settings.port,
        uds=Path(path) if path else None,
        uds_permissions=SOCKET_MODE,
        interface=interface,
        workers=settings.workers,
        factory=True,
        # WSGI has a thread for each request, started when needed; other interfaces allow one.
        blocking_threads=settings.threads if interface is Interfaces.WSGI else 1,
        loop=Loops.uvloop,
        http=HTTPModes.http1,
        websockets=False,
        backlog=1024,
        backpressure=settings.connections,
        # For a head and for an idle connection: Granian has one timeout for both.
        http1_settings=HTTP1Settings(header_read_timeout=settings.keep_alive_seconds * 1000),
        log_level=LogLevels.error,
        respawn_failed_workers=True,
        workers_kill_timeout=settings.stop_timeout_seconds,
    )
    server.on_startup(partial(_hear, server.signal_handler_interrupt))
    try:
        server.serve()
    finally:
        remove_metrics_folder()


def _hear(stop: Callable[[], object]) -> None:
    """Call `stop` at the first signal, from a thread that waits for nothing else.

    By default Granian's main thread waits for a lock. If two signals come at once another thread
    may take both, and then the main thread does not wake up.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDINGS)

    def hear() -> None:
        signal.sigwait(_ENDINGS)
        for pid in (each.pid for each in active_children() if each.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, _ABOUT_TO_END)
        stop()

    Thread(target=hear, name="signals", daemon=True).start()


def begin_worker() -> None:
    """Prepare the signals of a worker; to be called first in the worker.

    The kernel ends the worker when Granian's main process ends in any way. A TERM that comes before
    Granian has set its handlers ends the worker at once. Only the main process handles Ctrl-C.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    signal.pthread_sigmask(signal.SIG_BLOCK, {_ABOUT_TO_END})
    parent = parent_process()
    assert parent is not None and parent.pid is not None  # noqa: S101 - this is a worker
    die_with_parent(parent.pid)


def on_ending(action: Callable[[], object]) -> None:
    """Call `action` when the service is about to end, before requests in flight must end."""

    def hear() -> None:
        signal.sigwait({_ABOUT_TO_END})
        action()

    Thread(target=hear, name="signals", daemon=True).start()
