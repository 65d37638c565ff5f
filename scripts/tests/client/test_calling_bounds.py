"""The deadline and the most bytes of a call that holds a thread, whatever the server sends."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from calling_service import asked, product, serving, trickled

from restbench_client.batch import Batch
from restbench_client.codec import MatrixJson
from restbench_client.exchange import ThreadExchange
from restbench_client.model import Job, Kind, Limits
from restbench_client.strategies import Sequential, TaskPool


def _batch(exchange: ThreadExchange, limits: Limits, calls: int, threads: int = 0) -> Batch[Any]:
    job = Job(MatrixJson(), exchange, lambda _index, _given, output: output.rows)
    strategy = TaskPool(threads) if threads else Sequential()
    return strategy.start([asked(1)] * calls, job, limits)


def test_a_watch_that_had_no_thread_gets_one_at_the_next_call(monkeypatch):
    start, refused = threading.Thread.start, []

    def scarce(thread: threading.Thread) -> None:
        if thread.name == "call-watch" and not refused:
            refused.append(thread)
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", scarce)
    with serving(trickled) as url:
        exchange = ThreadExchange(url, "application/json")
        with _batch(exchange, Limits(per_call_s=0.4), calls=2) as batch:
            assert [each.kind for each in batch.all()] == [Kind.USER, Kind.TIMEOUT]
        exchange.close()


def test_a_closed_exchange_fails_the_calls_in_flight_and_those_that_follow():
    within = threading.Semaphore(0)

    def silent(request: bytes) -> Iterator[bytes]:
        within.release()
        return trickled(request)

    with serving(silent) as url:
        exchange = ThreadExchange(url, "application/json")
        with _batch(exchange, Limits(), calls=3, threads=2) as batch:
            for _ in range(2):
                assert within.acquire(timeout=60)
            exchange.close()
            outcomes = batch.all()
    assert [each.kind for each in outcomes] == [Kind.CUT_OFF, Kind.CUT_OFF, Kind.USER]
    assert str(outcomes[2].cause) == "the exchange is closed"


def test_an_answer_in_chunks_is_whole_and_its_connection_is_kept():
    connections = set()

    def in_chunks(request: bytes) -> bytes:
        connections.add(threading.current_thread())
        body = product(request).partition(b"\r\n\r\n")[2]
        pieces = (body[:1], body[1:-1], body[-1:], b"")
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in pieces)
        return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks

    with serving(in_chunks) as url:
        exchange = ThreadExchange(url, "application/json")
        with _batch(exchange, Limits(), calls=2) as batch:
            assert [each.result for each in batch.all()] == [[[2]]] * 2
        exchange.close()
    assert len(connections) == 1


def test_another_endpoint_of_the_same_host_is_asked_over_the_same_connection():
    seen = []

    class Service(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            seen.append((self.path, self.client_address))
            self.wfile.write(product(self.rfile.read(int(self.headers["Content-Length"]))))

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/matrix/serial"
        exchange = ThreadExchange(url, "application/json")
        for each in (exchange, exchange.to(f"{url}?delay=1"), exchange):
            with _batch(each, Limits(), calls=1) as batch:
                assert [outcome.result for outcome in batch.all()] == [[[2]]]
        with pytest.raises(ValueError, match="url: must be at"):
            exchange.to("http://127.0.0.1:1/matrix/serial")
        exchange.close()
        server.shutdown()
    targets, clients = zip(*seen, strict=True)
    assert targets == ("/matrix/serial", "/matrix/serial?delay=1", "/matrix/serial")
    assert len(set(clients)) == 1


@pytest.mark.parametrize("size", [b"-1", b"-f000"])
def test_a_chunk_of_a_negative_size_has_the_bound_of_any_answer(size):
    def endless(_request: bytes) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + size + b"\r\n"
        while True:
            yield b" " * 1000
            time.sleep(0.01)

    with serving(endless) as url:
        exchange = ThreadExchange(url, "application/json")
        with _batch(exchange, Limits(per_call_s=20, max_answer_bytes=50_000), calls=1) as batch:
            assert [each.kind for each in batch.all()] == [Kind.TOO_LARGE]
        exchange.close()
