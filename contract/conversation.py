"""Runs probes against a service: sends a conversation on one connection and reads the answers."""

from __future__ import annotations

import http.client
import os
import re
import select
import signal
import socket
import time
from typing import Any

from answers import answer_text
from probes import (
    Answer,
    EndOfSending,
    Pause,
    Probe,
    Products,
    Step,
    Terminate,
    Timeout,
    Zeros,
    chunk,
)
from service import SILENT_S, Outcome, Service

PIECE = bytes(65536)
PRODUCTS = re.compile(
    r"aiohttp|apache|granian|gunicorn|haproxy|helidon|hypercorn|java|jetty|netty|nginx|python"
    r"|spring|tomcat|uvicorn|vert\.x|[0-9]+\.[0-9]+\.[0-9]+",
    re.IGNORECASE,
)
"""Names of products, and version numbers, which an answer must not contain."""
ALREADY = "answered already"
IN_FLIGHT = re.compile(r"^restbench_requests_in_flight [1-9]", re.MULTILINE)
PART = 0.25
"""Limit for polling the metrics until the second request is in flight, as a share of the time that
the first answer took. Polling may fail: a service that computes on its only thread does not answer
meanwhile, and a front may send the poll to another instance."""

LONG_TIMES = 4
"""How many times as long a probe with a second of work may be silent: where a dozen services of one
machine do it at once, beside other tests, the second becomes a minute."""


def try_probe(service: Service, probe: Probe) -> Outcome:
    """Hold the conversation, and judge whether the probe allows the answers."""
    takes_long = any(isinstance(step, Terminate) for step in probe.steps)
    silent_s = LONG_TIMES * SILENT_S if takes_long else SILENT_S
    with socket.create_connection((service.host, service.port), silent_s) as connection:
        answer = " ".join(_converse(service, connection, probe.steps))
    faults = () if re.fullmatch(probe.allowed, answer) else (f"{answer!r}, not {probe.allowed!r}",)
    return Outcome("probe", probe.name, answer, faults)


def _converse(service: Service, connection: socket.socket, steps: tuple[Step, ...]) -> list[str]:
    """The answers as texts. The list ends with the first text that stands for a missing answer."""
    seen: list[str] = []
    said, took_s = "", 0.0
    source = connection.makefile("rb")
    for step in steps:
        match step:
            case Answer(count):
                asked_s = time.monotonic()
                for _ in range(count):
                    answer, said = _read_answer(source)
                    seen.append(answer)
                took_s = time.monotonic() - asked_s
            case Products():
                seen.append(_products(said))
            case Timeout():
                connection.settimeout(2 * service.receive_timeout_s + 3)
                seen.append(_read_answer(source)[0])
            case Pause(seconds):
                time.sleep(seconds)
            case Zeros():
                limit = service.body_limit_bytes
                _send_zeros(connection, limit + step.beyond_limit, step.in_chunks)
            case EndOfSending():
                connection.shutdown(socket.SHUT_WR)
            case Terminate():
                seen += _terminated(service, connection, PART * took_s)
            case bytes():
                length = str(service.body_limit_bytes + 4 * 1024 * 1024).encode()
                _send(connection, step.replace(b"BEYOND", length))
        if seen and seen[-1] in {"closed", "silent", "no HTTP/1", ALREADY}:
            break
    return seen


def _terminated(service: Service, connection: socket.socket, within_s: float) -> list[str]:
    """Send TERM while the request is in flight and return []. Where the request is answered before,
    send nothing and return [ALREADY]."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline and not _is_answered(connection, 0.01):
        if _counts_a_request(service, within_s):
            break
    if _is_answered(connection):
        return [ALREADY]
    assert service.pid is not None  # noqa: S101 - without a pid the probe is skipped
    os.kill(service.pid, signal.SIGTERM)
    return []


def _is_answered(connection: socket.socket, within_s: float = 0.0) -> bool:
    return bool(select.select([connection], [], [], within_s)[0])


def _counts_a_request(service: Service, within_s: float) -> bool:
    """Whether the metrics report a request in flight, or do not arrive within the timeout."""
    metrics = http.client.HTTPConnection(service.host, service.port, timeout=within_s)
    try:
        metrics.request("GET", "/metrics")
        return bool(IN_FLIGHT.search(metrics.getresponse().read().decode()))
    except OSError:
        return True
    finally:
        metrics.close()


def _products(said: str) -> str:
    """The product names and `version` found in a text, such as `python+version`, or `none`."""
    found = {it.lower() if it[0].isalpha() else "version" for it in PRODUCTS.findall(said)}
    return "+".join(sorted(found)) or "none"


def _send(connection: socket.socket, data: bytes) -> bool:
    """Send data; return whether the other end still accepted it."""
    try:
        connection.sendall(data)
    except OSError:
        return False
    return True


def _send_zeros(connection: socket.socket, count: int, in_chunks: bool) -> None:
    """Send `count` zero bytes, whatever is answered; stop where the other end accepts no more."""
    while count > 0:
        piece = PIECE[:count]
        if not _send(connection, chunk(piece) if in_chunks else piece):
            return
        count -= len(piece)


def _read_answer(source: Any) -> tuple[str, str]:
    """Read one answer. Returns its text, or `closed`, `silent` or `no HTTP/1` where there is none;
    and the head with the body."""
    try:
        status_line = source.readline()
        if status_line and not status_line.startswith(b"HTTP/1."):
            return "no HTTP/1", ""
        headers = http.client.parse_headers(source) if status_line else {}
        status = int(status_line.split(b" ")[1]) if status_line else 0
        body = source.read(int(headers.get("Content-Length", 0))) if status >= 200 else b""
    except TimeoutError:
        return "silent", ""
    except (OSError, ValueError, IndexError, http.client.HTTPException):
        return "closed", ""
    return answer_text(status, body) if status else "closed", f"{headers}{body.decode('latin-1')}"
