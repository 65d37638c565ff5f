"""The ports of the services that we start: their numbers, and whether they are free."""

from __future__ import annotations

import contextlib
import os
import random
import socket
from pathlib import Path

import psutil

from restbench.failures import BadConfiguration, EnvironmentProblem

HOST = "127.0.0.1"

DEFAULT_PORTS: dict[str, int] = {"java": 8080, "python": 8000}
PORT_VARIABLES = {"java": "JAVA_PORT", "python": "PYTHON_PORT"}


def port(name: str) -> int:
    """The port of a service or of its front: JAVA_PORT or PYTHON_PORT, or the default."""
    variable = PORT_VARIABLES[name]
    text = os.environ.get(variable) or str(DEFAULT_PORTS[name])
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise BadConfiguration(f"{variable}={text} is not a port; allowed are 1 to 65535")
    return int(text)


def free_port_of(name: str) -> int:
    """The same; EnvironmentProblem, with the process and the fix, where we cannot have it."""
    wanted, variable = port(name), PORT_VARIABLES[name]
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, wanted))
        except PermissionError as error:
            raise EnvironmentProblem(
                f"port {wanted} is only for root: set {variable} to one from 1024 on"
            ) from error
        except OSError as error:
            raise EnvironmentProblem(
                f"port {wanted} is in use{owner(wanted)}: "
                f"'make stop' ends services started by 'make serve', or set {variable}"
            ) from error
    return wanted


def free() -> int:
    """A port on which no process listens now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        number: int = probe.getsockname()[1]
        return number


#: Abstract Unix sockets. The name of each claims a port, until this process ends.
_GIVEN: list[socket.socket] = []


def reserve_stable_port() -> int:
    """A free port below those that the kernel assigns when any port is asked for: it stays free
    while the program that listens on it is restarted. Where the kernel's range begins below 30 000,
    the port is any from 10 000 to 30 000, which is only unlikely to be assigned. No other call,
    also of another process, returns it until this process ends."""
    given = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text("ascii")
    lowest = int(given.split()[0])
    while True:
        number = random.randrange(10_000, max(lowest, 30_000))  # noqa: S311 - no secret
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, number))
            claim = socket.socket(socket.AF_UNIX)
            _GIVEN.append(claim)
            claim.bind(f"\0restbench-port-{number}")
            return number


def listeners(wanted: int) -> set[int]:
    """The processes that listen on a port, as far as the kernel names them to us."""
    return {
        connection.pid
        for connection in psutil.net_connections("tcp")
        # The pid of another user's process is None, and Process(None) would be this process.
        if connection.status == psutil.CONN_LISTEN and connection.pid is not None
        if getattr(connection.laddr, "port", None) == wanted
    }


def owner(wanted: int) -> str:
    """The process that has a port, in words for a message; empty where it is not known."""
    for pid in sorted(listeners(wanted)):
        with contextlib.suppress(psutil.Error):
            return f" by {psutil.Process(pid).name()} (pid {pid})"
    return ""
