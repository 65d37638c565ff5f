"""A free port for a service that this tool starts."""

from __future__ import annotations

import contextlib
import random
import socket
from pathlib import Path

#: The kernel gives ports from the first to the second number to whoever asks for any.
GIVEN_TO_ANYBODY = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """A TCP port of the loopback that nobody listens on now, and that nobody gets by chance."""
    lowest = int(GIVEN_TO_ANYBODY.read_text().split()[0])
    while True:
        port = random.randrange(10_000, max(lowest, 30_000))  # noqa: S311 - no secret
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
