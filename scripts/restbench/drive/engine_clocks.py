"""Whether the clocks of JMeter's remote engines go with the controller's: each engine sends to the
controller for a moment, and what it stamped is held against when that came."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median

from restbench.failures import EnvironmentProblem
from restbench.machine import ports

#: Where the controller hears what an engine sends to have its clock compared. JMeter itself opens
#: up to three ports from 4100 on.
PORT = 4103
#: A merged file is of all engines' clocks, and a window's ends are of the controller's.
MOST_OFF_MS = 50.0
LOOK_S = 0.05


def offset_ms(rows: Sequence[Mapping[str, str]], heard_ms: Sequence[float]) -> float:
    """By how much the clock of an engine's one user is ahead of the one that heard its requests: at
    the middle between a request and its answer, in the quickest exchanges. EnvironmentProblem where
    nothing was heard."""
    times = sorted((int(row["timeStamp"]), int(row["elapsed"])) for row in rows)
    found = [
        (elapsed, begun + elapsed / 2 - heard)
        for (begun, elapsed), heard in zip(times, heard_ms, strict=False)
    ]
    if not found:
        raise EnvironmentProblem(f"an engine does not reach the controller's port {PORT}")
    return median(offset for elapsed, offset in found if elapsed == min(found)[0])


def require_together(offsets_ms: Mapping[str, float]) -> None:
    """EnvironmentProblem where a clock is too far from the controller's."""
    for address, offset in offsets_ms.items():
        if abs(offset) > MOST_OFF_MS:
            raise EnvironmentProblem(
                f"the clock of {address} differs from the controller's by {offset:+.0f} ms, more "
                f"than {MOST_OFF_MS:.0f}: synchronise them (chrony)"
            )


@contextmanager
def listening(host: str, most_bytes: int) -> Iterator[list[float]]:
    """Answers requests, and notes when they came, by this machine's clock; none with a body of
    more than `most_bytes`, for anyone may send one. EnvironmentProblem where the port is in use."""
    heard_ms: list[float] = []

    class Heard(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            now_ms, length = 1000 * time.time(), int(self.headers["Content-Length"])
            if not 0 <= length <= most_bytes:
                self.close_connection = True
                return
            heard_ms.append(now_ms)
            self.rfile.read(length)
            self.send_response_only(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    try:
        opened = ThreadingHTTPServer((host, PORT), Heard)
    except OSError as error:
        raise EnvironmentProblem(
            f"port {PORT} is in use{ports.owner(PORT)}: end that, the engines' clocks are compared "
            "there"
        ) from error
    with opened as server:
        thread = threading.Thread(target=server.serve_forever, args=(LOOK_S,), daemon=True)
        thread.start()
        try:
            yield heard_ms
        finally:
            server.shutdown()
