"""Where memory is short a request is refused with 008, and nothing is left of it."""

import asyncio
import io
from typing import Any

import pytest
from test_core import (
    GOOD,
    JSON,
    Scripted,
    assert_nothing_is_left,
    core_of,
    counted,
    error_of,
    handed_over,
)
from test_event_loop import head, pieces

from restbench_service.codec.matrix import MatrixJson
from restbench_service.core.reply import Reply
from restbench_service.frameworks.event_loop import Requests
from restbench_service.frameworks.flask import create_app
from restbench_service.workloads.matrix import MatrixWorkload

REFUSED = (503, "008", "the requests in flight hold the memory that this one needs")


def short(*_: object) -> Any:
    raise MemoryError


class Short(io.BytesIO):
    """A body of which no piece has room."""

    read = short


def test_while_flask_reads_a_body() -> None:
    core = core_of()
    client = create_app(core, {}).test_client()
    answer = client.post("/matrix/serial", input_stream=Short(GOOD), content_type=JSON)
    assert error_of(Reply(answer.status_code, {}, answer.data)) == REFUSED
    assert answer.headers["Retry-After"] == "1"
    assert counted(core) == {"503": 1}
    assert_nothing_is_left(core)


def test_while_an_event_loop_reads_a_body() -> None:
    core = core_of()
    requests = Requests(core, None, ())
    reply = asyncio.run(requests.answer(head(len(GOOD)), pieces(GOOD[:9], MemoryError())))
    assert error_of(reply) == REFUSED
    assert counted(core) == {"503": 1}
    assert_nothing_is_left(core)


def test_while_the_answer_to_a_failed_request_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    strategy = Scripted()
    core = core_of(serial=strategy)
    answered = handed_over(core)
    monkeypatch.setattr(MatrixJson, "identify", short)
    strategy.given[0][1].set_exception(KeyError())
    assert error_of(answered.result(60)) == REFUSED
    assert_nothing_is_left(core)


def test_but_what_may_have_changed_data_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """008 says that nothing is done."""
    monkeypatch.setattr(MatrixWorkload, "is_blocking", True)
    strategy = Scripted()
    core = core_of(serial=strategy)
    answered = handed_over(core)
    strategy.given[0][1].set_exception(MemoryError())
    assert error_of(answered.result(60))[:2] == (500, "099")
    assert_nothing_is_left(core)
