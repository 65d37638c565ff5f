"""How a running service has set its sockets, as the kernel has it."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from waiting import PATIENCE_S

PIDFD_GETFD = 438


def backlog(port: int) -> int:
    """How many connections may wait there to be accepted."""
    line = ["ss", "-Hltn", f"sport = :{port}"]
    listening = subprocess.run(line, capture_output=True, text=True, check=True)
    return int(listening.stdout.split()[2])


def kept(address: tuple[str, int]) -> socket.socket:
    """A connection on which an answer has begun to come; it is idle from then on."""
    client = socket.create_connection(address, PATIENCE_S)
    client.sendall(b"GET /health HTTP/1.1\r\nHost: service\r\n\r\n")
    assert client.recv(1)
    return client


def await_end(client: socket.socket) -> None:
    """Read until the service closes the connection; TimeoutError where it does not."""
    while client.recv(65536):
        pass


def sends_at_once(client: socket.socket, pids: Iterable[int]) -> bool:
    """Whether the service's end of a connection has TCP_NODELAY."""
    port = client.getsockname()[1]
    held = (it for pid in pids for it in _sockets_of(pid) if _peer_port(it) == port)
    return [it.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) > 0 for it in held] == [True]


def _peer_port(it: socket.socket) -> int | None:
    """None where it is not connected."""
    with suppress(OSError):
        return int(it.getpeername()[1])
    return None


def _sockets_of(pid: int) -> Iterator[socket.socket]:
    """A process's TCP sockets, as this process's own."""
    pidfd = os.pidfd_open(pid)
    try:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                if str(entry.readlink()).startswith("socket:"):
                    number = ctypes.CDLL(None).syscall(PIDFD_GETFD, pidfd, int(entry.name), 0)
                    assert number >= 0
                    with socket.socket(fileno=number) as found:
                        is_ip = found.family in (socket.AF_INET, socket.AF_INET6)
                        if is_ip and found.type == socket.SOCK_STREAM:
                            yield found
    finally:
        os.close(pidfd)
