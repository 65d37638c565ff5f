"""Many calls, of which some fail: none is lost, doubled, or another's, under every strategy."""

from __future__ import annotations

import asyncio
import os
import random
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import pytest
from calling_in_memory import NAMES
from waiting import await_true

from restbench_client.batch import Cancellation
from restbench_client.model import (
    Answer,
    AsyncSend,
    Done,
    ExchangeFailure,
    Failed,
    Job,
    Kind,
    Limits,
    MalformedAnswer,
    Retries,
    ServiceRefused,
    Stage,
)
from restbench_client.strategies import STRATEGIES

CALLS = int(os.environ.get("RESTBENCH_SOAK_CALLS", "20000"))
FAULTS = ((Stage.C, Kind.CUT_OFF), (Stage.D, Kind.REFUSED), (Stage.D, Kind.MALFORMED))
PLACES, CROWD = 20, 100


class Text:
    """A codec of integers; an answer of another status is a refusal with its code."""

    def encode(self, given: int) -> bytes:
        return b"%d" % given

    def decode(self, answer: Answer) -> int:
        if answer.status != 200:
            raise ServiceRefused(answer.body.decode(), "of a test")
        if not answer.body.isdigit():
            raise MalformedAnswer("of a test")
        return int(answer.body)


def fault(number: int) -> tuple[Stage, Kind] | None:
    """Of one call in ten."""
    return FAULTS[number // 10 % 3] if number % 10 == 3 else None


def answer(request: bytes) -> Answer:
    """The message itself, or a fault."""
    found = fault(int(request))
    if found is None:
        return Answer(200, {}, request)
    _, kind = found
    if kind is Kind.CUT_OFF:
        raise ExchangeFailure(kind, "of a test")
    return Answer(422, {}, b"005") if kind is Kind.REFUSED else Answer(200, {}, b"?")


class Mirror:
    """An exchange of both kinds: two threads answer half of the calls, in any order."""

    def __init__(self) -> None:
        self.due: SimpleQueue[tuple[Future[Answer], bytes] | None] = SimpleQueue()
        self.draw = random.Random(1)

    def work(self) -> None:
        while (given := self.due.get()) is not None:
            future, request = given
            try:
                future.set_result(answer(request))
            except ExchangeFailure as failure:
                future.set_exception(failure)

    def _later(self, request: bytes) -> Future[Answer] | None:
        if self.draw.random() < 0.5:
            return None
        future: Future[Answer] = Future()
        self.due.put((future, request))
        return future

    def send(self, request: bytes, _deadline: float, _most: int, _stop: Cancellation) -> Answer:
        later = self._later(request)
        return answer(request) if later is None else later.result(60)

    def run(self, work: Callable[[AsyncSend], Coroutine[Any, Any, bool]]) -> None:
        asyncio.run(work(self.sent))

    async def sent(self, request: bytes, _deadline: float, _most: int) -> Answer:
        later = self._later(request)
        return answer(request) if later is None else await asyncio.wrap_future(later)


@contextmanager
def answering() -> Iterator[Mirror]:
    mirror = Mirror()
    with ThreadPoolExecutor(2) as threads:
        for _ in range(2):
            threads.submit(mirror.work)
        try:
            yield mirror
        finally:
            for _ in range(2):
                mirror.due.put(None)


@pytest.mark.parametrize("name", NAMES)
def test_no_outcome_is_lost_doubled_or_misplaced(name):
    seen = bytearray(CALLS)
    with answering() as mirror:
        job = Job(Text(), mirror, lambda _index, _given, output: output)
        with STRATEGIES[name](8).start(range(CALLS), job, Limits()) as batch:
            for each in batch:
                assert not seen[each.index]
                seen[each.index] = 1
                if isinstance(each, Failed):
                    assert (each.stage, each.kind) == fault(each.index)
                else:
                    assert isinstance(each, Done)
                    assert fault(each.index) is None
                    assert each.result == each.index
    assert sum(seen) == CALLS


class Narrow:
    """An exchange of both kinds to a service of so many places: a call beyond them is 008. The
    first are held until `crowd` calls have been refused."""

    def __init__(self, crowd: int) -> None:
        self.crowd, self.lock = crowd, threading.Lock()
        self.within = self.refused = 0

    def _enter(self) -> bool:
        with self.lock:
            is_full = self.within == PLACES
            self.refused += is_full
            self.within += not is_full
            return not is_full

    def _leave(self) -> None:
        with self.lock:
            self.within -= 1

    def send(self, request: bytes, _deadline: float, _most: int, _stop: Cancellation) -> Answer:
        if not self._enter():
            return Answer(503, {}, b"008")
        try:
            assert await_true(lambda: self.refused >= self.crowd)
            return Answer(200, {}, request)
        finally:
            self._leave()

    def run(self, work: Callable[[AsyncSend], Coroutine[Any, Any, bool]]) -> None:
        asyncio.run(work(self.sent))

    async def sent(self, request: bytes, _deadline: float, _most: int) -> Answer:
        if not self._enter():
            return Answer(503, {}, b"008")
        try:
            while self.refused < self.crowd:
                await asyncio.sleep(0.001)
            return Answer(200, {}, request)
        finally:
            self._leave()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("retries", [Retries.NONE, Retries.SAFE])
def test_a_service_that_takes_twenty_calls_at_a_time_refuses_the_others_of_a_hundred(name, retries):
    crowd = 0 if name == "sequential" else CROWD - PLACES
    narrow = Narrow(crowd)
    job = Job(Text(), narrow, lambda _index, _given, output: output)
    limits = Limits(CROWD, retries=retries)
    with STRATEGIES[name](CROWD).start(range(CROWD), job, limits) as batch:
        outcomes = batch.all()
        totals = batch.totals()
    assert [each.index for each in outcomes] == [*range(CROWD)]
    done = [each for each in outcomes if isinstance(each, Done)]
    assert all(each.result == each.index for each in done)
    assert totals.attempts == narrow.refused + len(done)
    if retries is Retries.SAFE:
        assert len(done) == CROWD
        assert totals.retries == narrow.refused >= crowd
    else:
        refused = [each.error_code for each in outcomes if isinstance(each, Failed)]
        assert refused == ["008"] * crowd
