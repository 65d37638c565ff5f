"""A running service from the view of the programs that try examples and probes on it."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

SILENT_S = 30.0
"""Seconds without an answer after which a service counts as silent."""


@dataclass(frozen=True)
class Service:
    """The address of a running service, and the properties that it reports."""

    host: str
    port: int
    strategies: dict[str, list[str]]
    """Names of the strategies that take a workload, by workload."""
    body_limit_bytes: int
    receive_timeout_s: float
    """Seconds after which the service closes the connection of a silent sender."""
    pid: int | None
    """None where the probe that ends the service is not to be tried."""
    has_database: bool = False

    @staticmethod
    def at(url: str, receive_timeout_s: float, pid: int | None) -> Service:
        """The service at `url`, with the properties that /strategies and /health report.

        Raises ValueError where `url` has no host or port.
        """
        address = urlsplit(url)
        if not (address.hostname and address.port):
            raise ValueError("give http://HOST:PORT")
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
    """The result of one example, probe or race."""

    kind: str
    """`example`, `probe` or `race`."""
    name: str
    answer: str
    """The answers as text, in the form that probes.py describes; of a race `right` or `wrong`."""
    faults: tuple[str, ...]
    """Differences from the contract; empty where the answer is right."""


def get(host: str, port: int, path: str) -> dict[str, Any]:
    """The JSON object that a GET of `path` is answered with."""
    connection = http.client.HTTPConnection(host, port, timeout=SILENT_S)
    connection.request("GET", path)
    return dict(json.loads(connection.getresponse().read()))
