"""The oracle says of every example of the contract what the example says; and what has none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from restbench_robustness.bodies import documents
from restbench_robustness.bodies.examples import FOLDER, body_of
from restbench_robustness.oracle import Limits, Oracle, Request, Verdict

ORACLE = Oracle(["serial"], Limits(100_000))
ONE = {"columnCount": 1, "rows": [{"value": "2"}]}


def judge(body: bytes, *, is_whole: bool = True) -> Verdict:
    sent = Request("POST", "/matrix/serial", "application/json", body, len(body), is_whole)
    verdict = ORACLE.judge(sent)
    assert verdict is not None
    return verdict


UTF_8, DEEP, MALFORMED_JSON = "not valid UTF-8", "nested deeper", "not well-formed JSON"
TWICE, SURROGATE, NO_OBJECT = "a member twice", "a lone surrogate", "not a JSON object"
FIRST_OF_SEVERAL = [
    (b'{"a":"\xff"' + b"[" * 40, UTF_8),
    (b'{"a":1,"a":1,' + b"[" * 40, DEEP),
    (b'{"a":"' + b"[" * 40, MALFORMED_JSON),
    (b'{"a":"\\"' + b"[" * 40, MALFORMED_JSON),
    (b'{"a":"\\\\"' + b"[" * 40, DEEP),
    (b"]" * 9 + b"[" * 40, MALFORMED_JSON),
    (b'{"a":1,"a":"\\ud800",}', MALFORMED_JSON),
    (b'{"a":"\\ud800","a":1}', TWICE),
    (b'[{"a":1,"a":1}]', TWICE),
    (b'["\\ud800"]', SURROGATE),
    (b'["\\ud800\\ud83d\\ude00"]', SURROGATE),
    (b'"x"', NO_OBJECT),
]


@pytest.mark.parametrize(("body", "words"), FIRST_OF_SEVERAL)
def test_the_first_kind_of_002_decides_wherever_in_the_body_it_is(body: bytes, words: str) -> None:
    (message,) = judge(body).messages
    assert words in message


WELL_FORMED = [
    b' {"x":' + b"[" * 31 + b"]" * 31 + b"}\r\n\t", b'{"a":"\\ud83d\\ude00","b":[],"c":{}}',
    b'{"a":1e400,"b":-0,"c":-0.0E-0,"d":' + b"9" * 50_000 + b"}", '{"a":"\u007f\u2028"}'.encode(),
    b'{"a":{"b":1},"b":1,"c":[{"a":1},{"a":1}]}', b'{"":true,"\\u0000":false,"x":null}',
]  # fmt: skip


@pytest.mark.parametrize("body", WELL_FORMED, ids=lambda body: repr(body[:24]))
def test_well_formed_json_gets_past_002(body: bytes) -> None:
    assert judge(body).code == "003"


def test_a_body_that_ends_before_its_length_is_002_though_it_is_well_formed() -> None:
    request = {"requestId": 7, "matrixOne": ONE, "matrixTwo": ONE}
    cut_off = frozenset({"the body was cut off"})
    assert judge(json.dumps(request).encode(), is_whole=False) == Verdict(
        "002", 400, messages=cut_off
    )


@given(documents.operands(4))
def test_the_product_is_that_of_the_definition(operands: tuple[Any, Any]) -> None:
    one, two = operands
    product = [
        [sum(one[i][k] * two[k][j] for k in range(len(two))) for j in range(len(two[0]))]
        for i in range(len(one))
    ]
    sent = [{"columnCount": len(it[0]), "rows": [{"value": row} for row in it]} for it in operands]
    request = {"requestId": 1, "matrixOne": sent[0], "matrixTwo": sent[1]}
    verdict = judge(json.dumps(request).encode())
    if all(-(2**63) <= x < 2**63 for row in product for x in row):
        assert verdict.product is not None
        assert json.loads(verdict.product)["rows"] == product
    else:
        assert verdict.code == "006"


# --- every example of the contract ------------------------------------------------------------

GIVEN = {
    "body-limit-100": Limits(body_bytes=100),
    "body-limit-1000": Limits(body_bytes=1000),
    "operations-limit-1000": Limits(loop_operations=1000, native_operations=1000),
    "loop-operations-limit-1000": Limits(loop_operations=1000),
}
SITUATIONS_OF_THE_SERVICE = {"in-flight-limit-reached", "delay-limit-reached", "compute-fault"}
EXAMPLES: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))
}
#: This oracle knows the matrix, that of test_oracle_messages.py queues. The NAS kernels have one
#: request each, no arithmetic to guess. What the rules for logs say is held against other engines
#: in the tests of services and harness.
JUDGED = [
    name
    for name, example in EXAMPLES.items()
    if example.get("given") not in SITUATIONS_OF_THE_SERVICE
    and not example["request"]["path"].startswith(("/npb-", "/logs/", "/messages/"))
]


def judged(example: dict[str, Any]) -> Verdict:
    request = example["request"]
    body = body_of(request)
    content_type = {k.lower(): v for k, v in request["headers"].items()}.get("content-type")
    target = request["path"].replace("{strategy}", "serial")
    limits = GIVEN.get(example.get("given", ""), Limits())
    verdict = Oracle(["serial", "pinned"], limits).judge(
        Request(request["method"], target, content_type, body, len(body))
    )
    assert verdict is not None
    return verdict


@pytest.mark.parametrize("name", JUDGED)
def test_the_oracle_agrees_with_the_example(name: str) -> None:
    example = EXAMPLES[name]
    verdict = judged(example)
    assert verdict.status == example["status"]
    if "responseText" in example:
        assert verdict.product == example["responseText"].encode()
        return
    expected = example["response"]
    assert verdict.code == expected["errorCode"]
    assert verdict.request_id == expected["requestId"]
    assert type(verdict.request_id) is type(expected["requestId"])
    assert verdict.messages == {expected["errorMessage"]}
    assert verdict.allow == example.get("responseHeaders", {}).get("Allow")
