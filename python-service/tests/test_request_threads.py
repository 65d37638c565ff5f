"""Threads for requests: as many as are busy at once, kept, and ended."""

import threading
from collections.abc import Iterator
from queue import SimpleQueue
from types import SimpleNamespace
from typing import cast

import pytest
from live_service import wait_until

from restbench_service.server.connection import Connection
from restbench_service.server.request_threads import RequestThreads
from restbench_service.server.worker import BoundedWorker


@pytest.fixture
def threads() -> Iterator[RequestThreads]:
    found = RequestThreads()
    yield found
    found.shutdown()
    assert alive() == 0


def alive() -> int:
    return sum(thread.name.startswith("request-") for thread in threading.enumerate())


def test_a_thread_that_is_free_is_used_again(threads: RequestThreads) -> None:
    done = SimpleQueue[int]()
    for _ in range(5):
        threads.run(lambda: done.put(threading.get_ident()), busy=1)
    assert len({done.get(timeout=60) for _ in range(5)}) == alive() == 1


def test_tasks_that_are_busy_together_have_a_thread_each(threads: RequestThreads) -> None:
    together = threading.Barrier(4)
    for busy in (1, 2, 3):
        threads.run(lambda: together.wait(60), busy)
    together.wait(60)  # or it would be broken
    assert alive() == 3


def cannot_start(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_a_task_for_which_no_thread_can_be_started_is_not_taken(
    threads: RequestThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = SimpleQueue[str]()
    with monkeypatch.context() as short, pytest.raises(RuntimeError):
        short.setattr(threading.Thread, "start", cannot_start)
        threads.run(lambda: done.put("refused"), busy=1)
    threads.run(lambda: done.put("taken"), busy=1)
    assert done.get(timeout=60) == "taken"
    assert (done.qsize(), alive()) == (0, 1)


class Client:
    """A connection, of which is kept what it was offered."""

    def __init__(self) -> None:
        self.offered = b""

    def offer(self, response: bytes) -> None:
        self.offered += response


def test_a_request_for_which_no_thread_can_be_started_is_told_to_come_later(
    threads: RequestThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, client, ended = BoundedWorker.__new__(BoundedWorker), Client(), list[object]()
    worker.cfg, worker.tpool = SimpleNamespace(threads=2), threads
    worker._busy_threads = worker.refused = 0
    monkeypatch.setattr(worker, "_end", ended.append)
    monkeypatch.setattr(threading.Thread, "start", cannot_start)
    worker.enqueue_req(cast("Connection", client))
    assert client.offered.startswith(b"HTTP/1.1 503 ")
    assert b'"errorCode":"008"' in client.offered
    assert ended == [client]
    assert (worker._busy_threads, worker.refused) == (0, 1)


def test_what_was_given_before_the_end_is_done(threads: RequestThreads) -> None:
    go, done = threading.Event(), list[int]()
    threads.run(lambda: go.wait(60), 1)
    threads.run(lambda: done.append(1), 1)
    threads.shutdown(wait=False)
    go.set()
    wait_until(lambda: alive() == 0)
    assert done == [1]
