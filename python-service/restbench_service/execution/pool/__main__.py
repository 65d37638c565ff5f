"""A process of a pool: python -m restbench_service.execution.pool KIND NAME SOCKET MODULE..."""

import importlib
import os
import signal
import socket
import sys

from ...memory import keep_freed_memory
from ...process import die_with_parent, set_name
from . import element_process, requests

KINDS = {"elements": element_process.serve, "requests": requests.serve}
READY = b"R"


def main(kind: str, name: str, descriptor: str, *modules: str) -> None:
    """Serve on the inherited socket until its other end is closed, by intent or by death.

    `modules` are imported first, so that no request pays for it.
    """
    _live_and_die_with_the_service(name, os.getppid())
    keep_freed_memory()
    for module in modules:
        importlib.import_module(module)
    with socket.socket(fileno=int(descriptor)) as channel:
        channel.send(READY)
        KINDS[kind](channel)


def _live_and_die_with_the_service(name: str, parent: int) -> None:
    """A name for ps and /proc; the end of the service is ours, even while we compute.

    A signal to stop often goes to the whole process group (Ctrl-C, timeout), but when to stop is
    for the service to say: it finishes its requests first and then closes the socket.
    """
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.SIG_IGN)
    set_name(name)
    die_with_parent(parent)


if __name__ == "__main__":
    main(*sys.argv[1:])
