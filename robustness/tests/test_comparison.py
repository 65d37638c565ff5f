"""Each way in which an answer can be wrong is told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from restbench_robustness.comparison import unlike_verdict
from restbench_robustness.message import Message
from restbench_robustness.oracle import Verdict
from restbench_robustness.wire import Answer, NoAnswer

TIMING = "queue;dur=0.001, parse;dur=0.100, compute;dur=12.000, serialize;dur=0.010"
PRODUCT = b'{"requestId":"7","rows":[[4]]}'
OK = Verdict("ok", 200, 7, product=PRODUCT)
PLACE = "matrixOne.rows[0].value[1]"
TEXT = f"{PLACE}: must be an integer that fits 64 bits"
WRONG = Verdict("005", 422, 7, messages=frozenset({TEXT}))
SENT = Message(b'{"requestId":7,' + b"x" * 60 + b"}")


def answer(status: int, body: bytes, **headers: str) -> Answer:
    usual = {"content-type": "application/json", "content-length": str(len(body))}
    return Answer(status, {**usual, "server-timing": TIMING, **headers}, body)


def error(message: str = TEXT, **members: object) -> bytes:
    told = {"requestId": 7, "errorCode": "005", "errorMessage": message}
    return json.dumps({**told, **members}).encode()


def test_right_answers_are_right() -> None:
    assert unlike_verdict(SENT, OK, answer(200, PRODUCT)) == []
    assert unlike_verdict(SENT, WRONG, answer(422, error())) == []
    assert unlike_verdict(Message(b""), None, answer(200, b"page")) == []


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (answer(500, PRODUCT), "status 500, not 200"),
        (answer(200, PRODUCT + b"\n"), "body"),
        (answer(200, PRODUCT, **{"content-type": "text/html"}), "content-type"),
        (answer(200, PRODUCT, **{"content-length": "1"}), "content-length"),
        (answer(200, PRODUCT, **{"server-timing": "queue;dur=1"}), "Server-Timing"),
        (NoAnswer("ConnectionResetError"), "no answer"),
        (NoAnswer("silent for 60 s", hang=True), "silent for 60 s"),
    ],
)
def test_a_product_is_exact_in_status_headers_and_bytes(
    reply: Answer | NoAnswer, told: str
) -> None:
    assert told in unlike_verdict(SENT, OK, reply)[0]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (error(errorCode="004"), "errorCode '004', not '005'"),
        (error(requestId="7"), "requestId '7', not 7"),
        (error(requestId=None), "requestId None, not 7"),
        (error(requestId=True), "requestId True, not 7"),
        (error(f"{PLACE}: no integer"), "errorMessage"),
        (error(TEXT + "."), "errorMessage"),
        (error(""), "errorMessage"),
        (error(more=1), "no error of the contract"),
        (b'{"errorCode":"005","requestId":7,"errorMessage":"x"}', "no error of the contract"),
        (b"<html>", "no error of the contract"),
        (b"[]", "no error of the contract"),
    ],
)
def test_an_error_is_what_the_contract_says_of_it(body: bytes, told: str) -> None:
    assert told in " ".join(unlike_verdict(SENT, WRONG, answer(422, body)))


def test_any_of_several_messages_is_right() -> None:
    either = Verdict("005", 422, 7, messages=frozenset({TEXT, "another"}))
    assert unlike_verdict(SENT, either, answer(422, error("another"))) == []


def test_a_405_has_allow() -> None:
    verdict = Verdict("009", 405, messages=frozenset({"wrong method"}), allow="POST")
    body = error("wrong method", errorCode="009", requestId=None)
    assert unlike_verdict(SENT, verdict, answer(405, body, allow="GET, POST")) == []
    assert "Allow" in unlike_verdict(SENT, verdict, answer(405, body, allow="GET"))[0]


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        (answer(400, b"<html>"), True),
        (answer(501, b""), True),
        (NoAnswer("closed"), True),
        (answer(200, PRODUCT), False),
        (answer(500, b""), False),
        (NoAnswer("silent", hang=True), False),
    ],
)
def test_what_is_not_http_may_be_refused_in_any_way_but_is_never_served(
    reply: Answer | NoAnswer, right: bool
) -> None:
    broken = replace(SENT, is_http=False)
    assert (unlike_verdict(broken, OK, reply) == []) is right
