"""A running service as the runner of examples and probes sees it."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

SILENT_S = 30.0
"""Without an answer for so long a service is silent."""


@dataclass(frozen=True)
class Service:
    """Where a running service is, and what it says of itself."""

    host: str
    port: int
    strategies: dict[str, list[str]]
    """By workload."""
    body_limit_bytes: int
    receive_timeout_s: float
    pid: int | None
    has_database: bool = False

    @staticmethod
    def at(url: str, receive_timeout_s: float, pid: int | None) -> Service:
        """Asks /strategies and /health."""
        address = urlsplit(url)
        assert address.hostname and address.port  # noqa: S101 - an argument of ours
        host, port = address.hostname, address.port
        listed = get(host, port, "/strategies")["strategies"]
        health = get(host, port, "/health")
        workloads = {workload for row in listed for workload in row["workloads"]}
        strategies = {w: [r["name"] for r in listed if w in r["workloads"]] for w in workloads}
        limit_bytes = health["settings"]["maxBodyBytes"]
        return Service(
            host, port, strategies, limit_bytes, receive_timeout_s, pid, "database" in health
        )


@dataclass(frozen=True)
class Outcome:
    """What an example or a probe was answered."""

    kind: str
    """example or probe."""
    name: str
    answer: str
    """In the form of probes.py."""
    faults: tuple[str, ...]
    """In what it is not as the contract has it; empty: right."""


def get(host: str, port: int, path: str) -> dict[str, Any]:
    """The body of an answer."""
    connection = http.client.HTTPConnection(host, port, timeout=SILENT_S)
    connection.request("GET", path)
    return dict(json.loads(connection.getresponse().read()))
