"""Envelopes: what they stand for in JSON, and which answers to them are wrong."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from restbench_robustness.oracle import Verdict
from restbench_robustness.soap import document, envelope, plain_messages, said, unlike_rest
from restbench_robustness.wire import Answer, Message

ENVELOPE = envelope("a<b", [(2, ["1,2"]), (1, ["3", "4"])])
START = '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>'
END = "</s:Body></s:Envelope>"
PRODUCT = (
    '<m:r xmlns:m="m"><m:product><m:requestId>a</m:requestId><m:row>11</m:row></m:product></m:r>'
)
FAULT = (
    "<s:Fault><faultcode>s:Client</faultcode><faultstring>x</faultstring><detail><r xmlns='m'>"
    "<requestId>a</requestId><errorCode>004</errorCode><errorMessage>x</errorMessage>"
    "</r></detail></s:Fault>"
)


def answer(payload: str, status: int = 200) -> Answer:
    return Answer(status, {}, f"{START}{payload}{END}".encode())


def test_a_plain_envelope_stands_for_a_document() -> None:
    plain = envelope("ab", [(2, ["1,2"]), (1, ["3", "4"])])
    assert json.loads(document(plain) or b"") == {
        "requestId": "ab",
        "matrixOne": {"columnCount": 2, "rows": [{"value": "1,2"}]},
        "matrixTwo": {"columnCount": 1, "rows": [{"value": "3"}, {"value": "4"}]},
    }


@pytest.mark.parametrize(
    "body",
    [
        ENVELOPE,
        ENVELOPE[:-1],
        ENVELOPE + b" ",
        ENVELOPE.replace(b"a&lt;b", b"\xff"),
        ENVELOPE.replace(b"a&lt;b", b"\x01"),
        ENVELOPE.replace(b"<columnCount>2", b"<columnCount>9999999999999999999"),
    ],
)
def test_what_the_two_may_see_otherwise_stands_for_none(body: bytes) -> None:
    assert document(body) is None


@settings(max_examples=50, deadline=None)
@given(plain_messages())
def test_most_drawn_envelopes_are_plain(message: Message) -> None:
    assert document(message.body) is not None or b"&" in message.body


@pytest.mark.parametrize(
    ("payload", "differs"), [(PRODUCT, False), (PRODUCT.replace("11", "12"), True), (FAULT, True)]
)
def test_a_product_is_the_one_of_rest(payload: str, differs: bool) -> None:
    right = Verdict("ok", 200, product=b'{"requestId":"a","rows":[[11]]}')
    assert bool(unlike_rest(right, *said(answer(payload)))) is differs


@pytest.mark.parametrize(("code", "message"), [("004", "y"), ("005", "x"), ("004", "x")])
def test_a_fault_has_code_and_message_of_rest(code: str, message: str) -> None:
    right = Verdict(code, 422, messages=frozenset({message}))
    assert bool(unlike_rest(right, *said(answer(FAULT, 500)))) is ((code, message) != ("004", "x"))


@pytest.mark.parametrize("body", [b"", b"<a/>", b"{}", f"{START}<a/>{END}".encode()])
def test_anything_else_is_no_answer(body: bytes) -> None:
    with pytest.raises(ValueError, match="no "):
        said(Answer(200, {}, body))
