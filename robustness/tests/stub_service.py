"""A service that answers as the oracle says, but for a fault that a test plants in it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from restbench_robustness.comparison import Target
from restbench_robustness.oracle import Limits, Oracle, Request, Verdict

LIMITS = Limits(body_bytes=10_000)
STRATEGIES = ("serial", "pinned")
TIMING = "queue;dur=0.000, parse;dur=0.000, compute;dur=0.000, serialize;dur=0.000"

Answer = tuple[int, bytes]
Fault = Callable[[Request, Answer], Answer]


def right(_request: Request, answer: Answer) -> Answer:
    return answer


def written(verdict: Verdict) -> Answer:
    if verdict.product is not None:
        return verdict.status, verdict.product
    error = {
        "requestId": verdict.request_id,
        "errorCode": verdict.code,
        "errorMessage": min(verdict.messages),
    }
    return verdict.status, json.dumps(error, separators=(",", ":"), ensure_ascii=False).encode()


def handler(fault: Fault) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        oracle = Oracle(STRATEGIES, LIMITS)

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            type_ = self.headers["Content-Type"]
            request = Request("POST", self.path, type_, self.rfile.read(length), length)
            verdict = self.oracle.judge(request)
            assert verdict is not None
            status, body = fault(request, written(verdict))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Server-Timing", TIMING)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def serving(name: str, fault: Fault = right) -> Iterator[Target]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(fault))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Target(name, "127.0.0.1", server.server_port, STRATEGIES)
    finally:
        server.shutdown()
        server.server_close()
