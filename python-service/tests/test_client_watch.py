"""When a request in an event loop looks after its client."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from test_core import GOOD, JSON, PRODUCT, Scripted, core_of

from restbench_service.core.reply import Reply
from restbench_service.core.service import Head
from restbench_service.execution.serial import Serial
from restbench_service.frameworks import event_loop
from restbench_service.frameworks.event_loop import Client, Requests

LATER_S = 3600.0


async def in_one_piece(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def answer(requests: Requests, client: Client) -> Reply:
    head = Head("POST", "/matrix/serial", "", JSON, len(GOOD), client.waits)
    return await requests.answer(head, in_one_piece(GOOD), client)


def test_the_client_of_a_request_that_is_soon_answered_is_not_watched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_loop, "WATCHED_AFTER_S", LATER_S)

    async def leaves() -> None:
        pytest.fail("it was watched")

    client = Client(leaves)
    with ThreadPoolExecutor(1) as threads:
        requests = Requests(core_of(serial=Serial(None)), threads, ())
        reply = asyncio.run(answer(requests, client))
    assert reply.body == PRODUCT
    assert client.waits()


def test_a_client_that_left_before_it_was_watched_is_seen_to_be_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_loop, "WATCHED_AFTER_S", 0.0)
    strategy, has_left = Scripted(), asyncio.Event()

    async def leaves() -> None:
        has_left.set()

    async def run(requests: Requests) -> Reply:
        answering = asyncio.create_task(answer(requests, client))
        await has_left.wait()
        while client.waits() or not strategy.given:
            await asyncio.sleep(0.001)
        strategy.given[0][1].set_result(PRODUCT)
        return await answering

    client = Client(leaves)
    with ThreadPoolExecutor(1) as threads:
        reply = asyncio.run(run(Requests(core_of(serial=strategy), threads, ())))
    assert reply.body == PRODUCT
    assert not strategy.given[0][0].is_wanted()


def test_a_watch_ends_with_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "WATCHED_AFTER_S", 0.0)
    strategy, ended = Scripted(), list[str]()

    async def leaves() -> None:
        while not strategy.given:
            await asyncio.sleep(0.001)
        strategy.given[0][1].set_result(PRODUCT)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def run(requests: Requests) -> Reply:
        reply = await answer(requests, Client(leaves))
        await asyncio.sleep(0)
        return reply

    with ThreadPoolExecutor(1) as threads:
        requests = Requests(core_of(serial=strategy), threads, ())
        reply = asyncio.run(run(requests))
    assert (reply.body, ended) == (PRODUCT, ["cancelled"])
