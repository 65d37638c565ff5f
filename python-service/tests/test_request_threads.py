"""Threads for requests: as many as are busy at once, kept, and ended."""

import threading
from collections.abc import Iterator
from queue import SimpleQueue

import pytest
from live_service import wait_until

from restbench_service.server.request_threads import RequestThreads


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


def test_what_was_given_before_the_end_is_done(threads: RequestThreads) -> None:
    go, done = threading.Event(), list[int]()
    threads.run(lambda: go.wait(60), 1)
    threads.run(lambda: done.append(1), 1)
    threads.shutdown(wait=False)
    go.set()
    wait_until(lambda: alive() == 0)
    assert done == [1]
