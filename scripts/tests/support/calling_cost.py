"""`.venv/bin/python scripts/tests/support/calling_cost.py`: the CPU time of a call of the Python
client under each strategy, with nothing in its stages and an exchange that answers at once: what
the library itself costs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from restbench_client.model import Answer, AsyncSend, Job, Limits
from restbench_client.strategies import STRATEGIES

CALLS, ROUNDS, THREADS = 20_000, 5, 4
ANSWER = Answer(200, {}, b"")


class Empty:
    def encode(self, _given: int) -> bytes:
        return b""

    def decode(self, _answer: Answer) -> int:
        return 0


class Mirror:
    def send(self, *_asked: object) -> Answer:
        return ANSWER

    def run(self, work: Callable[[AsyncSend], Coroutine[Any, Any, bool]]) -> None:
        async def send(*_asked: object) -> Answer:
            return ANSWER

        asyncio.run(work(send))


def main() -> None:
    job = Job(Empty(), Mirror(), lambda _index, _given, output: output)
    for name, strategy in STRATEGIES.items():
        costs_us = []
        for _ in range(ROUNDS):
            began = time.process_time()
            with strategy(THREADS).start(range(CALLS), job, Limits()) as calls:
                for _outcome in calls:
                    pass
            costs_us.append(1e6 * (time.process_time() - began) / CALLS)
        print(f"{name:12} {min(costs_us):6.1f} µs CPU a call")


if __name__ == "__main__":
    main()
