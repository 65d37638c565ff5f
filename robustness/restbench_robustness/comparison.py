"""How an answer differs from the right one; an error's message is right to the letter."""

from __future__ import annotations

import json
import re
from typing import Any

from .answer import Answer
from .message import Message
from .oracle import Verdict
from .wire import NoAnswer

MEMBERS = ["requestId", "errorCode", "errorMessage"]
SERVER_TIMING = re.compile(
    ", ".join(rf"{stage};dur=\d+\.\d{{3}}" for stage in ("queue", "parse", "compute", "serialize"))
)

Reply = Answer | NoAnswer


def unlike_verdict(message: Message, verdict: Verdict | None, reply: Reply) -> list[str]:
    """Everything in which a reply is not what the contract asks for."""
    if not message.is_http:
        return _unlike_refusal(reply)
    if isinstance(reply, NoAnswer):
        return [f"no answer: {reply.reason}"]
    if verdict is None:
        return [] if reply.status < 400 else [f"status {reply.status}, not 2xx or 3xx"]
    found = (
        [] if reply.status == verdict.status else [f"status {reply.status}, not {verdict.status}"]
    )
    if verdict.product is not None:
        return found + _unlike_product(verdict.product, reply)
    return found + _unlike_error(verdict, reply)


def _unlike_refusal(reply: Reply) -> list[str]:
    """What is not HTTP is refused or the connection closed: no product, no fault, no hang."""
    if isinstance(reply, NoAnswer):
        return [f"no answer: {reply.reason}"] if reply.hang else []
    refused = 400 <= reply.status < 500 or reply.status in {501, 505}
    return [] if refused else [f"status {reply.status} for what HTTP has refused"]


def _unlike_product(product: bytes, answer: Answer) -> list[str]:
    found = _unlike_headers(answer)
    if answer.body != product:
        found.append(f"body {_short(answer.body)}, not {_short(product)}")
    if not SERVER_TIMING.fullmatch(answer.headers.get("server-timing", "")):
        found.append(f"Server-Timing {answer.headers.get('server-timing')!r}")
    return found


def _unlike_headers(answer: Answer) -> list[str]:
    expected = {"content-type": "application/json", "content-length": str(len(answer.body))}
    return [
        f"{name} {answer.headers.get(name)!r}, not {value!r}"
        for name, value in expected.items()
        if answer.headers.get(name) != value
    ]


def _unlike_error(verdict: Verdict, answer: Answer) -> list[str]:
    found = _unlike_headers(answer)
    allowed = [name.strip() for name in answer.headers.get("allow", "").split(",")]
    if verdict.allow is not None and verdict.allow not in allowed:
        found.append(f"Allow {answer.headers.get('allow')!r} without {verdict.allow}")
    try:
        error = json.loads(answer.body.decode("utf-8"))
        assert list(error) == MEMBERS  # noqa: S101 - one failure for every wrong form
    except (ValueError, AssertionError, TypeError):
        return [*found, f"body {_short(answer.body)} is no error of the contract"]
    return found + _unlike_members(verdict, error)


def _unlike_members(verdict: Verdict, error: dict[str, Any]) -> list[str]:
    told, right, text = error["requestId"], verdict.request_id, error["errorMessage"]
    found = []
    if error["errorCode"] != verdict.code:
        found.append(f"errorCode {error['errorCode']!r}, not {verdict.code!r}")
    if told != right or type(told) is not type(right):
        found.append(f"requestId {told!r}, not {right!r}")
    if text not in verdict.messages:
        found.append(f"errorMessage {text!r}, not {min(verdict.messages)!r}")
    return found


def _short(body: bytes) -> str:
    return repr(body if len(body) <= 200 else body[:120] + b" ... " + body[-60:])
