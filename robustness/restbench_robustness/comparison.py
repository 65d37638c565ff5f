"""How an answer differs from the right one, and from the other service's."""

from __future__ import annotations

import json
import re
from typing import Any

from .answer import Answer
from .message import Message
from .oracle import Verdict
from .wire import NoAnswer

MOST_MESSAGE_CHARACTERS = 300
MOST_ECHO_CHARACTERS = 40
MEMBERS = ["requestId", "errorCode", "errorMessage"]
SERVER_TIMING = re.compile(
    ", ".join(rf"{stage};dur=\d+\.\d{{3}}" for stage in ("queue", "parse", "compute", "serialize"))
)
INTERNALS = re.compile(
    r"Traceback|Exception|\b(java|org|com|jakarta|tools)\.[a-z]|restbench_service|\.(py|java)\b"
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
    return found + _unlike_error(message, verdict, reply)


def unlike_each_other(replies: dict[str, Reply]) -> list[str]:
    """Two services' answers are the same bytes, but for the words of an error's message."""
    answers = {name: it for name, it in replies.items() if isinstance(it, Answer)}
    forms = {name: (it.status, _without_message(it.body)) for name, it in answers.items()}
    if len(set(forms.values())) <= 1:
        return []
    return ["the services differ: " + ", ".join(f"{n}: {form!r}" for n, form in forms.items())]


def _without_message(body: bytes) -> bytes:
    return body.partition(b'"errorMessage":')[0] if body.startswith(b'{"requestId":') else body


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


def _unlike_error(message: Message, verdict: Verdict, answer: Answer) -> list[str]:
    found = _unlike_headers(answer)
    allowed = [name.strip() for name in answer.headers.get("allow", "").split(",")]
    if verdict.allow is not None and verdict.allow not in allowed:
        found.append(f"Allow {answer.headers.get('allow')!r} without {verdict.allow}")
    try:
        error = json.loads(answer.body.decode("utf-8"))
        assert list(error) == MEMBERS  # noqa: S101 - one failure for every wrong form
    except (ValueError, AssertionError, TypeError):
        return [*found, f"body {_short(answer.body)} is no error of the contract"]
    return found + _unlike_code_and_id(verdict, error) + _unlike_text(message, verdict, error)


def _unlike_code_and_id(verdict: Verdict, error: dict[str, Any]) -> list[str]:
    told, right = error["requestId"], verdict.request_id
    found = []
    if error["errorCode"] != verdict.code:
        found.append(f"errorCode {error['errorCode']!r}, not {verdict.code!r}")
    if told != right or type(told) is not type(right):
        found.append(f"requestId {told!r}, not {right!r}")
    return found


def _unlike_text(message: Message, verdict: Verdict, error: dict[str, Any]) -> list[str]:
    text = error["errorMessage"]
    if not isinstance(text, str) or not 1 <= len(text) <= MOST_MESSAGE_CHARACTERS:
        return [f"errorMessage {_short(repr(text).encode())} is no text of 1 to 300 characters"]
    found = []
    if verdict.message is not None and text != verdict.message:
        found.append(f"errorMessage {text!r}, not {verdict.message!r}")
    if verdict.places and not any(_names(text, place) for place in verdict.places):
        found.append(f"errorMessage {text!r} names none of {sorted(verdict.places)[:3]}")
    if INTERNALS.search(text) or _echoes(text, message):
        found.append(f"errorMessage {text!r} shows what it must not")
    return found


def _names(text: str, place: str) -> bool:
    """Whether the place itself stands there, not one inside it."""
    return re.search(re.escape(place) + r"(?![\w.\[])", text) is not None


def _echoes(text: str, message: Message) -> bool:
    sent = message.body.decode("utf-8", errors="replace") + message.path + (message.query or "")
    window = MOST_ECHO_CHARACTERS + 1
    return any(text[i : i + window] in sent for i in range(len(text) - window + 1))


def _short(body: bytes) -> str:
    return repr(body if len(body) <= 200 else body[:120] + b" ... " + body[-60:])
