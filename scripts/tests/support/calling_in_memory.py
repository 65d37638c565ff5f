"""Batches in memory: a codec of integers, exchanges without a network, and a batch of both."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from restbench_client import model
from restbench_client.batch import Batch, Cancellation
from restbench_client.model import Answer, AsyncSend, Job, Limits, Stopped
from restbench_client.strategies import STRATEGIES

NAMES = sorted(STRATEGIES)


class Numbers:
    """A codec of integers; a negative answer is a refusal with its code."""

    def encode(self, given: int) -> bytes:
        if given % 100 == 91:
            raise MemoryError("no room in S")
        return str(given).encode()

    def decode(self, answer: Answer) -> int:
        if answer.status == 503:
            raise model.ServiceRefused(answer.body.decode(), "busy")
        if answer.body == b"garbage":
            raise model.MalformedAnswer("no number")
        return int(answer.body)


class Fake:
    """An exchange of both kinds, in memory: `answer` is asked with the message and the attempt."""

    def __init__(self, answer: Callable[[int, int], Answer], gather: int = 0) -> None:
        self.answer, self.gather = answer, gather
        self.lock = threading.Condition()
        self.within = self.peak = 0
        self.sends: dict[int, int] = {}
        self.left = 0

    def _enter(self, request: bytes) -> tuple[int, int]:
        with self.lock:
            value = int(request)
            self.sends[value] = attempt = self.sends.get(value, 0) + 1
            self.within += 1
            self.peak = max(self.peak, self.within)
            self.lock.notify_all()
            return value, attempt

    def _leave(self) -> None:
        with self.lock:
            self.within -= 1
            self.left -= 1
            self.lock.notify_all()

    @property
    def _may_go(self) -> bool:
        """All that can be with us at once, are."""
        return self.within >= min(self.gather, self.left)

    def send(self, request: bytes, _deadline: float, _most: int, stop: Cancellation) -> Answer:
        value, attempt = self._enter(request)
        try:
            with self.lock:
                while not self._may_go:
                    self.lock.wait(0.01)
                    if stop.is_set():
                        raise Stopped
            return self.answer(value, attempt)
        finally:
            self._leave()


class FakeAsync(Fake):
    def run(self, work: Callable[[AsyncSend], Coroutine[Any, Any, bool]]) -> None:
        asyncio.run(work(self.sent))

    async def sent(self, request: bytes, _deadline: float, _most: int) -> Answer:
        value, attempt = self._enter(request)
        try:
            while not self._may_go:
                await asyncio.sleep(0.001)
            return self.answer(value, attempt)
        finally:
            self._leave()


def fake(name: str, answer: Callable[[int, int], Answer], gather: int = 0, calls: int = 0) -> Fake:
    made = (FakeAsync if name == "async" else Fake)(answer, gather)
    made.left = calls
    return made


def ok(value: int, _attempt: int = 1) -> Answer:
    return Answer(200, {}, str(10 * value).encode())


def plus(index: int, given: int, output: int) -> int:
    if given % 100 == 94:
        raise SystemExit("P")
    return output + given + index


def started(  # noqa: PLR0917 - mostly left out
    name: str,
    inputs: Iterator[int] | range,
    exchange: Any,
    limits: Limits | None = None,
    threads: int = 4,
    process: Any = plus,
) -> Batch[int]:
    job = Job(Numbers(), exchange, process)
    return STRATEGIES[name](threads).start(inputs, job, limits or Limits())
