"""A small service that speaks the contract, and goes wrong on demand, a strategy at a time.

    STUB_FAULTS='{"pinned": "wrong"}' RESTBENCH_PORT=18250 python stub_service.py java

Faults: `absent` (not offered), `wrong` (a wrong product always), `wrong-under-load` and `error`
(every third request of a load), `slow` (50 ms), `queue` (one request after the other, 10 ms each),
`die-once` (in the middle of the first load: the file STUB_DIED remembers), `die-proving`. The fault
`no-start` of a service's name: it never comes up. Messages are those of `stub_queues`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from operator import mul
from pathlib import Path
from typing import Any

import stub_kernel

from restbench.experiment.cell import STRATEGIES

#: What a request of a load takes by a fault, or without: no test is about how busy a machine is.
SLOW_S = {"slow": 0.05, "queue": 0.0}
USUAL_S = QUEUE_S = 0.01
#: The request of a load at which a service dies, and every how many one goes wrong.
DIES_AT = 10
EVERY = 3
#: Whether a service dies of a request, by its id and its place in the load.
FATAL: dict[str, Callable[[str, int], bool]] = {
    "die-once": lambda _id, number: number == DIES_AT,
    "die-proving": lambda request_id, _number: request_id.isdigit(),
}


class Stub(ThreadingHTTPServer):
    """Listens on 127.0.0.1; port 0 is any free one."""

    daemon_threads = True

    def __init__(self, name: str, faults: dict[str, str], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.name, self.faults = name, faults
        self.health: dict[str, Any] = {}  # beyond what every stub tells
        self.counted: Counter[tuple[str, int]] = Counter()
        self.loaded: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.turn = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def offered(self) -> list[str]:
        return [s for s in STRATEGIES[self.name] if self.faults.get(s) != "absent"]

    def metrics(self) -> str:
        lines = [
            f'restbench_requests_total{{workload="matrix",strategy="{s}",status="{c}"}} {n}'
            for (s, c), n in self.counted.items()
        ]
        return "\n".join([*lines, ""])


@contextmanager
def serving(stub: Stub) -> Iterator[Stub]:
    """The stub at work in a thread of ours."""
    threading.Thread(target=stub.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield stub
    finally:
        stub.shutdown()
        stub.server_close()


class Handler(BaseHTTPRequestHandler):
    """Routes of the contract, as far as the harness asks for them."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Stub

    def do_GET(self) -> None:
        told = {
            "/health": {
                "status": "ok",
                "service": self.server.name,
                "version": "stub",
                "runtime": "Stub 1.0",
                "cores": sorted(os.sched_getaffinity(0)),
                "settings": {},
                **self.server.health,
            },
            "/strategies": {"strategies": [{"name": s} for s in self.server.offered()]},
        }
        if self.path == "/metrics":
            self.answer(200, self.server.metrics().encode())
        elif self.path in told:
            self.answer(200, json.dumps(told[self.path]).encode())
        else:
            self.answer(404, b"{}")

    def do_POST(self) -> None:
        strategy = self.path.partition("?")[0].rpartition("/")[2]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("/messages/"):
            sys.path.append(str(Path(__file__).parents[2]))  # of `tools`
            import stub_queues  # noqa: PLC0415 - few stubs need a database's driver

            self.answer(
                *stub_queues.answer(self.path, request, self.server.faults.get("serial", ""))
            )
            return
        status, body = self.work(strategy, request)
        with self.server.lock:
            self.server.counted[strategy, status] += 1
        self.answer(status, body)

    def work(self, strategy: str, request: dict[str, Any]) -> tuple[int, bytes]:
        if strategy not in self.server.offered():
            return 404, b'{"code":"009"}'
        fault = self.server.faults.get(strategy, "")
        under_load = str(request["requestId"]).startswith(("u", "a"))
        with self.server.lock:
            self.server.loaded[strategy] += under_load
            number = self.server.loaded[strategy] if under_load else 0
        if fault in FATAL and FATAL[fault](str(request["requestId"]), number):
            die(once=fault == "die-once")
        if under_load:
            time.sleep(SLOW_S.get(fault, USUAL_S))
        if fault == "queue":
            with self.server.turn:
                time.sleep(QUEUE_S)
        if "/npb-" in self.path:
            kernel = self.path.split("/")[1].removeprefix("npb-").upper()
            return stub_kernel.served(kernel, request["class"], fault)
        if fault == "error" and number % EVERY == 1:
            return 500, b'{"code":"099"}'
        wrong = fault == "wrong" or (fault == "wrong-under-load" and number % EVERY == 1)
        if self.path.startswith("/logs/"):
            return 200, evaluated(request, 1 if wrong else 0)
        return 200, product(request, 1 if wrong else 0)

    def answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Server-Timing", "queue;dur=0, parse;dur=0.1, compute;dur=0.2")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Nothing a request."""


def product(request: dict[str, Any], off_by: int) -> bytes:
    """The answer, byte for byte; its last element wrong by `off_by`."""
    left, right = (
        [[int(value) for value in row["value"].split(",")] for row in request[each]["rows"]]
        for each in ("matrixOne", "matrixTwo")
    )
    columns = [*zip(*right, strict=True)]
    rows = [[sum(map(mul, row, column)) for column in columns] for row in left]
    rows[-1][-1] += off_by
    rows_text = json.dumps(rows, separators=(",", ":"))
    return f'{{"requestId":"{request["requestId"]}","rows":{rows_text}}}'.encode()


def evaluated(request: dict[str, Any], off_by: int) -> bytes:
    """The rules that fire on lines of a log; on the last line so many more."""
    from restbench.drive import logs  # noqa: PLC0415 - few stubs are asked for any

    rest = json.loads("{" + logs.answer_rest(request["ruleSet"], request["lines"]))
    rest["fired"][-1] += [15] * off_by
    return json.dumps({"requestId": request["requestId"], **rest}, separators=(",", ":")).encode()


def die(*, once: bool) -> None:
    died = Path(os.environ["STUB_DIED"])
    if not (once and died.exists()):
        if once:
            died.touch()
        print("stub: out of memory, giving up", file=sys.stderr, flush=True)
        os._exit(3)


if __name__ == "__main__":
    faults = json.loads(os.environ.get("STUB_FAULTS", "{}"))
    if faults.get(sys.argv[1]) == "no-start":
        sys.exit("stub: this machine is not good enough for me")
    Stub(sys.argv[1], faults, int(os.environ["RESTBENCH_PORT"])).serve_forever()
