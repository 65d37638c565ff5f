"""Where the system makes no thread a request is refused: what was refused is not done later."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from live_service import kill, wait_until
from observed import Held, Observed, Units, held
from test_core import GOOD, PRODUCT, assert_nothing_is_left, core_of, counted, error_of, post
from test_event_loop import head, pieces

from restbench_service.execution.faults import PoolFailedError, WorkerDiedError
from restbench_service.execution.process_pool import ProcessPool
from restbench_service.execution.standard_pools import MultiprocessingPool
from restbench_service.execution.strategy import hand_over
from restbench_service.execution.techniques import PerRequest, WorkerPool
from restbench_service.frameworks.event_loop import Requests
from restbench_service.workloads.workload import ParallelLoop


@contextmanager
def no_new_thread(named: str = "") -> Iterator[None]:
    """For those whose names begin so."""
    start = threading.Thread.start

    def fail(thread: threading.Thread) -> None:
        if thread.name.startswith(named):
            raise RuntimeError("can't start new thread")
        start(thread)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(threading.Thread, "start", fail)
        yield


@dataclass(frozen=True)
class Recorded(Observed):
    """Notes each request that is computed."""

    computed: list[int] = field(default_factory=list)

    def compute(self, value: Units, loop: ParallelLoop) -> dict[str, Any]:
        self.computed.append(value["units"])
        return super().compute(value, loop)


def test_worker_pool_does_not_do_later_what_it_has_refused() -> None:
    strategy, workload = WorkerPool(1, None), Recorded()
    with no_new_thread():
        for units in (1, 2):
            refused = strategy.execute(workload.job(units))
            assert isinstance(refused.exception(0), PoolFailedError)
    assert strategy.execute(workload.job(3)).result(60)
    assert workload.computed == [3]
    assert strategy.gate._free[False] == 1
    strategy.close()


def test_a_request_for_worker_pool_that_is_closed_is_told_that_the_service_stops() -> None:
    strategy = WorkerPool(1, None)
    strategy.close()
    core = core_of(serial=strategy)  # type: ignore[arg-type]
    assert error_of(post(core, "/matrix/serial", GOOD)) == (503, "008", "the service is stopping")
    assert_nothing_is_left(core)


def test_nor_does_a_thread_of_worker_pool_that_lives(signal: Path) -> None:
    strategy, workload = WorkerPool(2, None), Recorded()
    first = strategy.execute(Held(until=str(signal)).job(1))
    wait_until(lambda: held(signal) > 0)
    with no_new_thread():
        refused = strategy.execute(workload.job(2))
    assert isinstance(refused.exception(0), PoolFailedError)
    signal.touch()
    assert first.result(60) and strategy.execute(workload.job(3)).result(60)
    assert workload.computed == [3]
    strategy.close()


def test_what_a_thread_has_done_before_no_other_could_be_started_is_not_refused() -> None:
    def submit(work: Callable[[], object]) -> None:
        work()
        raise RuntimeError("can't start new thread")

    done = list[int]()
    hand_over(Mock(submit=submit), lambda: done.append(1))
    assert done == [1]


def test_an_event_loop_without_a_thread_refuses_and_leaves_nothing() -> None:
    core = core_of()
    with ThreadPoolExecutor(1) as threads:
        requests = Requests(core, threads, ())
        with no_new_thread():
            refused = asyncio.run(requests.answer(head(len(GOOD)), pieces(GOOD)))
        text = "the service has no worker free for this request now"
        assert error_of(refused) == (503, "008", text)
        assert_nothing_is_left(core)
        reply = asyncio.run(requests.answer(head(len(GOOD)), pieces(GOOD)))
    assert reply.body == PRODUCT
    reply.sent()
    assert counted(core) == {"503": 1, "200": 1}
    assert_nothing_is_left(core)


def test_who_has_a_pool_that_is_lost_is_told_and_the_pool_made_anew() -> None:
    kept = ProcessPool(MultiprocessingPool, "NT", 1, ())
    try:
        kept.await_ready()
        first = kept.submit(os.getpid).result(60)
        with no_new_thread("fail-"):
            lost = kept.submit(time.sleep, 60)
            kill(first)
            assert isinstance(lost.exception(60), WorkerDiedError)
            kept.await_ready()
        assert kept.submit(os.getpid).result(60) != first
    finally:
        kept.close()


def test_who_would_wait_for_a_pool_is_refused_where_no_thread_would_end_the_wait() -> None:
    goes_on = threading.Event()

    def held_up(*arguments: Any) -> MultiprocessingPool:
        goes_on.wait(60)
        return MultiprocessingPool(*arguments)

    begun = ProcessPool(held_up, "NT", 1, ())
    try:
        with no_new_thread():
            refused = PerRequest(begun, None).execute(Recorded().job(1))
        assert isinstance(refused.exception(0), PoolFailedError)
        goes_on.set()
        assert begun.submit(os.getpid).result(60)
    finally:
        goes_on.set()
        begun.close()
