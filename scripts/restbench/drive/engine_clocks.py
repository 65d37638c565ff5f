"""Whether the clocks of JMeter's remote engines agree with the controller's. Each engine sends
requests to the controller for a moment; their time stamps are compared with their arrival times."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median

from restbench.failures import EnvironmentProblem
from restbench.machine import ports

#: The controller's port for this comparison. JMeter itself opens up to three ports from 4100 on.
PORT = 4103
#: Largest difference that is accepted. A merged JTL has the time stamps of all engines' clocks, and
#: the CPU times of its window are by the controller's.
MOST_OFF_MS = 50.0
LOOK_S = 0.05


def offset_ms(rows: Sequence[Mapping[str, str]], heard_ms: Sequence[float]) -> float:
    """By how much an engine's clock is ahead of the listener's. `rows` are the requests of its one
    user, `heard_ms` their arrival times, taken to be in the middle between start and answer; the
    median of the quickest exchanges is returned. EnvironmentProblem where nothing arrived."""
    times = sorted((int(row["timeStamp"]), int(row["elapsed"])) for row in rows)
    found = [
        (elapsed, begun + elapsed / 2 - heard)
        for (begun, elapsed), heard in zip(times, heard_ms, strict=False)
    ]
    if not found:
        raise EnvironmentProblem(f"an engine does not reach the controller's port {PORT}")
    return median(offset for elapsed, offset in found if elapsed == min(found)[0])


def require_together(offsets_ms: Mapping[str, float]) -> None:
    """EnvironmentProblem where a clock differs from the controller's by more than MOST_OFF_MS."""
    for address, offset in offsets_ms.items():
        if abs(offset) > MOST_OFF_MS:
            raise EnvironmentProblem(
                f"the clock of {address} differs from the controller's by {offset:+.0f} ms, more "
                f"than {MOST_OFF_MS:.0f}: synchronise them (chrony)"
            )


@contextmanager
def listening(host: str, most_bytes: int) -> Iterator[list[float]]:
    """Answer requests while the context lasts, and append their arrival times, by this machine's
    clock, to the list. A request of more than `most_bytes` is not answered, since anybody may send
    one. EnvironmentProblem where the port is in use."""
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
            f"port {PORT} is in use{ports.owner(PORT)}: end that process: the port is needed to "
            "compare the engines' clocks"
        ) from error
    with opened as server:
        thread = threading.Thread(target=server.serve_forever, args=(LOOK_S,), daemon=True)
        thread.start()
        try:
            yield heard_ms
        finally:
            server.shutdown()
