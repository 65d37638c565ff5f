"""What is sent is what the message says, and every end of a connection is told from an answer."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from restbench_robustness.wire import Answer, Connection, Message, NoAnswer, Route

ROUTE = Route("serial", "native")
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-One: 1\r\n\r\nok"
Dialogue = Callable[[socket.socket], None]


@contextmanager
def listening(dialogue: Dialogue, timeout_s: float = 60.0) -> Iterator[Connection]:
    """A server that has one dialogue on each connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    accepted, _ = server.accept()
                    with accepted, contextlib.suppress(OSError):
                        dialogue(accepted)

        threading.Thread(target=serve, daemon=True).start()
        connection = Connection("127.0.0.1", server.getsockname()[1], timeout_s)
        try:
            yield connection
        finally:
            connection.close()
            server.shutdown(socket.SHUT_RDWR)


def received(message: Message, end: bytes) -> bytes:
    """Everything that a server gets of a message, which ends so; and of what comes after that."""
    got = bytearray()

    def dialogue(peer: socket.socket) -> None:
        peer.settimeout(60)
        while not got.endswith(end) and (piece := peer.recv(65_536)):
            got.extend(piece)
        peer.settimeout(0.1)
        with contextlib.suppress(TimeoutError):
            got.extend(peer.recv(65_536))
        peer.sendall(ANSWER)

    with listening(dialogue) as connection:
        assert isinstance(connection.exchange(message, ROUTE), Answer)
    return bytes(got)


def test_a_message_is_sent_with_its_length() -> None:
    assert received(Message(b"{}"), b"{}") == (
        b"POST /matrix/serial?kernel=native HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )


def test_a_query_of_its_own_replaces_the_kernel_and_headers_are_sent_as_they_are() -> None:
    sent = received(Message(b"", "get", "/x", "a=%zz", (("X", "\xff"),)), b"\r\n\r\n")
    assert sent == (
        b"get /x?a=%zz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: \xff\r\nContent-Length: 0\r\n\r\n"
    )


def test_a_host_of_its_own_replaces_that_of_the_service() -> None:
    head = Message(b"", host="a..b").head(ROUTE, "127.0.0.1")
    hosts = [line for line in head.split(b"\r\n") if line.startswith(b"Host:")]
    assert hosts == [b"Host: a..b"]


def test_chunks_are_of_the_size_asked_for_and_the_last_can_be_lost() -> None:
    chunked = Message(b"abc", chunk_bytes=2)
    whole, cut = b"chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", b"1\r\nc\r\n"
    assert received(chunked, whole).endswith(whole)
    assert received(replace(chunked, missing_bytes=1), cut).endswith(cut)
    malformed = b"chunked\r\n\r\nzz\r\n"
    assert received(Message(b"zz\r\n", chunk_bytes=0), malformed).endswith(malformed)


def test_the_length_can_promise_more_or_less_than_comes() -> None:
    assert b"Content-Length: 5\r\n" in received(Message(b"abc", missing_bytes=2), b"abc")
    assert b"Content-Length: 1\r\n" in received(Message(b"abc", missing_bytes=-2), b"abc")


def test_the_oracle_is_told_what_a_service_can_know() -> None:
    assert Message(b"abc", missing_bytes=2).as_received(ROUTE).declared_bytes == 5
    assert not Message(b"abc", missing_bytes=2).as_received(ROUTE).is_whole
    assert Message(b"abc", missing_bytes=-2).as_received(ROUTE).body == b"a"
    assert Message(b"abc", chunk_bytes=1).as_received(ROUTE).declared_bytes is None


def test_an_answer_that_comes_before_all_is_sent_is_read() -> None:
    read = threading.Event()

    def refuses(peer: socket.socket) -> None:
        peer.recv(10)
        peer.sendall(ANSWER)
        read.wait(60)

    with listening(refuses) as connection:
        answer = connection.exchange(Message(b"x" * 50_000_000), ROUTE)
        read.set()
    assert isinstance(answer, Answer)
    assert (answer.status, answer.body, answer.headers["x-one"]) == (200, b"ok", "1")


def hangs_up(peer: socket.socket) -> None:
    peer.recv(10)


def test_a_closed_connection_and_a_silent_one_are_told_apart() -> None:
    with listening(hangs_up) as connection:
        ended = connection.exchange(Message(b"{}"), ROUTE)
    given_up = threading.Event()

    def falls_silent(peer: socket.socket) -> None:
        peer.recv(10_000)
        given_up.wait(60)

    with listening(falls_silent, timeout_s=0.3) as connection:
        silent = connection.exchange(Message(b"{}"), ROUTE)
        given_up.set()
    assert isinstance(ended, NoAnswer) and not ended.hang
    assert isinstance(silent, NoAnswer) and silent.hang


def test_a_kept_connection_that_the_service_has_closed_is_opened_anew() -> None:
    def answers_once(peer: socket.socket) -> None:
        peer.recv(10_000)
        peer.sendall(ANSWER)

    with listening(answers_once) as connection:
        answers = [connection.exchange(Message(b"{}"), ROUTE) for _ in range(3)]
    assert all(isinstance(it, Answer) for it in answers)
