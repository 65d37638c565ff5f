"""Each way in which an answer can be wrong is told."""

from __future__ import annotations

import json

import pytest

from restbench_robustness.comparison import unlike_verdict
from restbench_robustness.oracle import Verdict
from restbench_robustness.wire import Answer, Message, NoAnswer

TIMING = "queue;dur=0.001, parse;dur=0.100, compute;dur=12.000, serialize;dur=0.010"
PRODUCT = b'{"requestId":"7","rows":[[4]]}'
OK = Verdict("ok", 200, 7, product=PRODUCT)
PLACE = "matrixOne.rows[0].value[1]"
TEXT = f"{PLACE}: must be an integer that fits 64 bits"
WRONG = Verdict("005", 422, 7, messages=frozenset({TEXT, "another"}))
ALLOW = Verdict("009", 405, messages=frozenset({"wrong method"}), allow="POST")
SENT = Message(b'{"requestId":7}')
NO_HTTP = Message(b"", is_http=False)


def answer(status: int, body: bytes, **headers: str) -> Answer:
    usual = {"content-type": "application/json", "content-length": str(len(body))}
    return Answer(status, {**usual, "server-timing": TIMING, **headers}, body)


def error(message: str = TEXT, **members: object) -> Answer:
    told = {"requestId": 7, "errorCode": "005", "errorMessage": message}
    return answer(422, json.dumps({**told, **members}).encode())


def wrong_method(allow: str) -> Answer:
    body = error("wrong method", errorCode="009", requestId=None).body
    return answer(405, body, allow=allow)


@pytest.mark.parametrize(
    ("message", "verdict", "reply"),
    [
        (SENT, OK, answer(200, PRODUCT)),
        (SENT, WRONG, error()),
        (SENT, WRONG, error("another")),
        (SENT, ALLOW, wrong_method("GET, POST")),
        (SENT, None, answer(200, b"page")),
        (NO_HTTP, OK, answer(400, b"<html>")),
        (NO_HTTP, OK, answer(501, b"")),
        (NO_HTTP, OK, NoAnswer("closed")),
    ],
)
def test_right_answers_are_right(
    message: Message, verdict: Verdict | None, reply: Answer | NoAnswer
) -> None:
    assert unlike_verdict(message, verdict, reply) == []


@pytest.mark.parametrize(
    ("message", "verdict", "reply", "told"),
    [
        (SENT, OK, answer(500, PRODUCT), "status 500, not 200"),
        (SENT, OK, answer(200, PRODUCT + b"\n"), "body"),
        (SENT, OK, answer(200, PRODUCT, **{"content-type": "text/html"}), "content-type"),
        (SENT, OK, answer(200, PRODUCT, **{"content-length": "1"}), "content-length"),
        (SENT, OK, answer(200, PRODUCT, **{"server-timing": "queue;dur=1"}), "Server-Timing"),
        (SENT, OK, NoAnswer("ConnectionResetError"), "no answer"),
        (SENT, OK, NoAnswer("silent for 60 s", hang=True), "silent for 60 s"),
        (SENT, None, answer(404, b""), "status 404"),
        (SENT, WRONG, error(errorCode="004"), "errorCode '004', not '005'"),
        (SENT, WRONG, error(requestId="7"), "requestId '7', not 7"),
        (SENT, WRONG, error(requestId=None), "requestId None, not 7"),
        (SENT, WRONG, error(requestId=True), "requestId True, not 7"),
        (SENT, WRONG, error(requestId=7.0), "requestId 7.0, not 7"),
        (SENT, WRONG, error(f"{PLACE}: no integer"), "errorMessage"),
        (SENT, WRONG, error(TEXT + "."), "errorMessage"),
        (SENT, WRONG, error(more=1), "no error of the contract"),
        (SENT, WRONG, answer(422, b"<html>"), "no error of the contract"),
        (SENT, WRONG, answer(422, b"[]"), "no error of the contract"),
        (SENT, ALLOW, wrong_method("GET"), "Allow"),
        (NO_HTTP, OK, answer(200, PRODUCT), "status 200"),
        (NO_HTTP, OK, answer(500, b""), "status 500"),
        (NO_HTTP, OK, NoAnswer("silent", hang=True), "silent"),
    ],
)
def test_whatever_is_wrong_is_told(
    message: Message, verdict: Verdict | None, reply: Answer | NoAnswer, told: str
) -> None:
    assert told in " ".join(unlike_verdict(message, verdict, reply))
