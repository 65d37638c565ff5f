"""One benchmark at a time on a machine: two at the same time distort each other's results.

The lock is the name of an abstract Unix socket: the kernel gives it to one process of all users,
and releases it when that process ends, however it ends. There is no file that could be left.

It does not see a benchmark in another network namespace (a container without `--network host`), on
another virtual machine of the same host, or one that is not restbench: those show as foreign load
of the cells (`foreign-load`, `steal`).
"""

from __future__ import annotations

import errno
import os
import socket
import struct

import psutil

from restbench.failures import EnvironmentProblem
from restbench.machine.watch import MACHINE

DEFAULT_NAME = "restbench-benchmark"
#: struct ucred of the peer: pid, uid, gid.
_CREDENTIALS = struct.Struct("3i")

_held: dict[str, socket.socket] = {}


def take() -> None:
    """Take the lock until this process ends; EnvironmentProblem names the process that has it."""
    name = os.environ.get(MACHINE, DEFAULT_NAME)
    if name in _held:
        return
    lock = socket.socket(socket.AF_UNIX)  # not inherited by what we start
    try:
        lock.bind(f"\0{name}")
        lock.listen()
    except OSError as error:
        lock.close()
        if error.errno != errno.EADDRINUSE:
            raise
        raise EnvironmentProblem(
            f"another benchmark runs on this machine{_owner(name)}: wait for its end or stop it; "
            "two at the same time distort each other's results"
        ) from error
    _held[name] = lock


def _owner(name: str) -> str:
    """The process that has the lock, in words, by the kernel's credentials; empty if it is gone."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.setblocking(False)  # nobody accepts: with a full backlog, connect would wait
        try:
            asking.connect(f"\0{name}")
        except OSError:
            return ""
        peer = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(peer)
    if pid == 0:
        return ", in another container"
    return f" (pid {pid} of user {uid}: {_command(pid)})"


def _command(pid: int) -> str:
    """The command line of a process, without the interpreter and the path of restbench."""
    try:
        words = psutil.Process(pid).cmdline()
    except psutil.Error:
        return "its command line is not visible"
    known = next((n for n, word in enumerate(words) if word.endswith("restbench")), None)
    return " ".join(words if known is None else ["restbench", *words[known + 1 :]])
