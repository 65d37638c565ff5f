"""What a process of a pool does before its first task."""

import importlib
import os
import select
import signal
import socket
import sys
from threading import Thread

from ..process import set_name


def begin_work(
    name: str, channel: socket.socket, service: int, niceness: int, modules: tuple[str, ...]
) -> None:
    """Take a number, be called `name-number`, and report when ready to work.

    `modules` are imported first, so that no request pays for it; `service` is the process id of the
    service, with which this process ends.
    """
    number = channel.recv(16).decode()
    if not number:
        sys.exit("the pool was given up before this process began")
    for stop in (signal.SIGINT, signal.SIGTERM):  # when to stop is for the service to say
        signal.signal(stop, signal.SIG_IGN)
    set_name(f"{name}-{number}")
    _end_with(service)
    os.nice(niceness)
    for module in modules:
        importlib.import_module(module)
    channel.send(b"%d" % os.getpid())
    channel.close()


def _end_with(service: int) -> None:
    """The parent of this process is the fork server: its death is not that of the service."""
    descriptor = os.pidfd_open(service)

    def wait() -> None:
        select.select([descriptor], [], [])
        os._exit(1)

    Thread(target=wait, name="end with the service", daemon=True).start()
