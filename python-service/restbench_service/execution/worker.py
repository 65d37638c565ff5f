"""What a process of a pool does before its first task."""

import importlib
import os
import select
import signal
import socket
from threading import Thread

from ..process import set_name


def begin_work(
    name: str, channel: socket.socket, service: int, niceness: int, modules: tuple[str, ...]
) -> None:
    """Receive a number, name the process `name-number`, prepare it, and report when it is ready.

    `channel` carries the number and the report. `modules` are imported here, so that no request
    has to do it. `service` is the process id of the service; this process ends with it, and without
    a word if the pool is given up meanwhile.
    """
    for stop in (signal.SIGINT, signal.SIGTERM):  # the service decides when to stop
        signal.signal(stop, signal.SIG_IGN)
    try:
        number = channel.recv(16).decode()
        if not number:
            raise ConnectionAbortedError
        set_name(f"{name}-{number}")
        _end_with(service)
        os.nice(niceness)
        for module in modules:
            importlib.import_module(module)
        channel.send(b"%d" % os.getpid())
    except ConnectionError:
        os._exit(1)
    channel.close()


def _end_with(service: int) -> None:
    """End this process with the service, which is not its parent: that is the fork server."""
    try:
        descriptor = os.pidfd_open(service)
    except ProcessLookupError:  # the service has ended already
        os._exit(1)

    def wait() -> None:
        select.select([descriptor], [], [])
        os._exit(1)

    Thread(target=wait, name="end with the service", daemon=True).start()
