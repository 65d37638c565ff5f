"""A service that says what a test wants it to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = tuple[int, bytes, dict[str, str]]
"""Status, body and headers; a Content-Length among them ends the connection."""


@contextmanager
def serving(behaviour: Callable[[bytes, str, str], Answer | None]) -> Iterator[tuple[str, int]]:
    """The address of a server that answers each body, path and media type so; None: it closes the
    connection."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = behaviour(body, self.path, self.headers["Content-Type"])
            self.close_connection = answer is None
            if answer is None:
                return
            status, body, headers = answer
            self.close_connection = "Content-Length" in headers
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield "127.0.0.1", server.server_port
    finally:
        server.shutdown()
        server.server_close()
