"""A request in an event loop without a server: whatever becomes of its body or its task, it is
answered once and leaves nothing."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import pytest
from starlette.types import Message
from test_core import GOOD, JSON, PRODUCT, Scripted, assert_nothing_is_left, core_of, counted

from restbench_service.core.reply import Reply
from restbench_service.core.service import UNKNOWN, Head
from restbench_service.frameworks import event_loop, fastapi
from restbench_service.frameworks.event_loop import Client, Requests
from restbench_service.settings import Settings
from restbench_service.workloads.matrix import MatrixWorkload


class BrokenError(Exception):
    """What a server raises where a body is cut off."""


FAULT = KeyError("a server's own")
"""What nobody foresaw."""
SILENCE = None


async def pieces(*of: bytes | Exception | None) -> AsyncIterator[bytes]:
    """Of a body, in their order."""
    for piece in of:
        if isinstance(piece, Exception):
            raise piece
        if piece is None:
            await asyncio.sleep(600)
        else:
            yield piece


def head(declared: int = UNKNOWN) -> Head:
    return Head("POST", "/matrix/serial", "", JSON, declared)


@pytest.mark.parametrize("in_thread", [True, False])
@pytest.mark.parametrize(
    ("body", "declared", "status"),
    [
        ((GOOD,), len(GOOD), 200),
        ((GOOD[:9], b"", GOOD[9:]), UNKNOWN, 200),
        ((GOOD[:9],), len(GOOD), 400),
        ((GOOD[:9], BrokenError()), UNKNOWN, 400),
        ((GOOD[:9], SILENCE), len(GOOD), 400),
        ((GOOD, GOOD), UNKNOWN, 413),
    ],
)
def test_however_a_body_ends_it_is_answered_once(
    body: tuple[bytes | Exception | None, ...], declared: int, status: int, in_thread: bool
) -> None:
    core = core_of(Settings(max_body_bytes=2 * len(GOOD) - 1, receive_timeout_seconds=0))
    with ThreadPoolExecutor(1) as threads:
        requests = Requests(core, threads if in_thread else None, (BrokenError,))
        reply = asyncio.run(requests.answer(head(declared), pieces(*body)))
    reply.sent()
    assert reply.status == status
    assert counted(core) == {str(status): 1}
    assert_nothing_is_left(core)


def test_a_fault_of_the_server_while_a_body_comes_leaves_nothing() -> None:
    core = core_of()
    with pytest.raises(KeyError):
        asyncio.run(Requests(core, None, ()).answer(head(len(GOOD)), pieces(GOOD[:9], FAULT)))
    assert counted(core) == {"400": 1}
    assert_nothing_is_left(core)


def test_a_task_that_is_cancelled_while_a_body_comes_leaves_nothing() -> None:
    core = core_of()

    async def cancelled() -> None:
        answering = Requests(core, None, ()).answer(head(len(GOOD)), pieces(GOOD[:9], SILENCE))
        task = asyncio.ensure_future(answering)
        await asyncio.sleep(0)
        assert core.admission.in_flight == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert counted(core) == {"400": 1}
    assert_nothing_is_left(core)


def test_a_request_that_runs_ends_though_its_task_is_cancelled_and_then_leaves_nothing() -> None:
    strategy = Scripted()
    core = core_of(serial=strategy)

    async def cancelled() -> None:
        answering = Requests(core, None, ()).answer(head(len(GOOD)), pieces(GOOD))
        task = asyncio.ensure_future(answering)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert core.admission.in_flight == 1
        strategy.given[0][1].set_result(PRODUCT)
        await asyncio.sleep(0)

    asyncio.run(cancelled())
    assert counted(core) == {"200": 1}
    assert_nothing_is_left(core)


@pytest.mark.parametrize(
    ("is_blocking", "is_whole", "status", "code"),
    [(True, True, 500, "099"), (True, False, 503, "008"), (False, True, 503, "008")],
    ids=["others may see its work", "it has not begun", "others see nothing of it"],
)
def test_a_stop_that_cuts_a_request_off_never_says_that_what_may_be_done_is_not(
    monkeypatch: pytest.MonkeyPatch, is_blocking: bool, is_whole: bool, status: int, code: str
) -> None:
    """FastAPI's server has that answered; others close the connection."""
    monkeypatch.setattr(MatrixWorkload, "is_blocking", is_blocking)
    strategy = Scripted()
    coming: list[Message] = [{"type": "http.request", "body": GOOD, "more_body": not is_whole}]
    begun = lambda: not coming and len(strategy.given) == is_whole  # noqa: E731
    started, body = cut_off(monkeypatch, strategy, coming, begun)
    assert (started["status"], json.loads(body["body"])["errorCode"]) == (status, code)


@pytest.mark.parametrize("is_gone", [False, True])
def test_what_a_server_cuts_off_is_a_fault_unless_its_client_has_gone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, is_gone: bool
) -> None:
    monkeypatch.setattr(MatrixWorkload, "is_blocking", True)
    monkeypatch.setattr(event_loop, "WATCHED_AFTER_S", 0.0)
    strategy = Scripted()
    coming: list[Message] = [{"type": "http.request", "body": GOOD, "more_body": False}]
    coming += [{"type": "http.disconnect"}] * is_gone
    begun = lambda: bool(strategy.given) and strategy.given[0][0].is_wanted() != is_gone  # noqa: E731
    cut_off(monkeypatch, strategy, coming, begun)
    assert len(caplog.records) == (not is_gone)


def cut_off(
    monkeypatch: pytest.MonkeyPatch,
    strategy: Scripted,
    coming: list[Message],
    has_begun: Callable[[], bool],
) -> list[Message]:
    """What FastAPI sends in answer to a request whose task is cancelled once it has begun."""
    requests = Requests(core_of(serial=strategy), None, ())
    monkeypatch.setattr(fastapi, "serving", lambda *_: nullcontext(requests))
    app, sent = fastapi.create_app(Settings(), {}), list[Message]()
    headers = [(b"content-type", JSON.encode()), (b"transfer-encoding", b"chunked")]
    path = "/matrix/serial"
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": path, "headers": headers}
    scope |= {"raw_path": path.encode(), "query_string": b""}

    async def receive() -> Message:
        return coming.pop(0) if coming else await asyncio.Future()

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        async with app.router.lifespan_context(app):
            task = asyncio.ensure_future(app(scope, receive, send))
            async with asyncio.timeout(60):
                while not has_begun():
                    await asyncio.sleep(0.001)
            task.cancel()
            await task

    asyncio.run(run())
    return sent


# --- when it looks after its client ------------------------------------------------------------


async def answer(requests: Requests, client: Client) -> Reply:
    watched = head(len(GOOD))._replace(is_wanted=client.waits)
    return await requests.answer(watched, pieces(GOOD), client)


def test_the_client_of_a_request_that_is_soon_answered_is_not_watched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_loop, "WATCHED_AFTER_S", 3600.0)

    async def leaves() -> None:
        pytest.fail("it was watched")

    client = Client(leaves)
    with ThreadPoolExecutor(1) as threads:
        requests = Requests(core_of(), threads, ())
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
