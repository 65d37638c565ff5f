"""The oracle, rule by rule, in the words of the contract."""

from __future__ import annotations

from typing import Any

import pytest

from restbench_robustness.oracle import Limits, Oracle, Request, Verdict

LIMITS = Limits(body_bytes=100_000, loop_operations=60_000, native_operations=90_000)
ORACLE = Oracle(["serial"], LIMITS)
ONE = '{"columnCount":1,"rows":[{"value":"2"}]}'


def judge(body: str | bytes, query: str = "", **around: Any) -> Verdict:
    data = body if isinstance(body, bytes) else body.encode()
    target = "/matrix/serial" + (f"?{query}" if query else "")
    usual = {"method": "POST", "target": target, "content_type": "application/json"}
    request = Request(**{**usual, "body": data, "declared_bytes": len(data), **around})
    verdict = ORACLE.judge(request)
    assert verdict is not None
    return verdict


def request(one: str = ONE, two: str = ONE, request_id: str = "7") -> str:
    return f'{{"requestId":{request_id},"matrixOne":{one},"matrixTwo":{two}}}'


def matrix(value: str, count: str = "1") -> str:
    return f'{{"columnCount":{count},"rows":[{{"value":{value}}}]}}'


MALFORMED = [
    b"", b" ", b"{", b"[]", b"1", b"null", b'"x"', b"{} {}", b"{}x", b"\xef\xbb\xbf{}", b"{,}",
    b'{"a":1,}', b'{"a":[1,]}', b'{"a" 1}', b"{'a':1}", b"{a:1}", b'{"a":+1}', b'{"a":01}',
    b'{"a":1.}', b'{"a":.5}', b'{"a":-}', b'{"a":1e}', b'{"a":NaN}', b'{"a":Infinity}',
    b'{"a":0x1}', b'{"a":tru}', b'{"a":truex}', b'{"a":1,"a":1}', b'{"a":1,"\\u0061":1}',
    b'{"x":{"a":1,"a":1}}', b'{"a":"\\ud800"}', b'{"a":"\\udc00\\ud800"}', b'{"\\udc00":1}',
    b'{"a":"\\ud800x"}', b'{"a":"\\ud800\\u0041"}', b'{"a":"\xed\xa0\x80"}', b'{"a":"\xff"}',
    b'{"a":"\xc0\x80"}', b'{"a":"\x00"}', b'{"a":"\t"}', b'{"a":"\\x"}', b'{"a":"\\u12"}',
    b'{"a":"\\', b"\x0c{}", b"{}\x0b", b"\xc2\xa0{}", b"{}\x00", b"// x\n{}",
    b'{"x":' + b"[" * 32 + b"]" * 32 + b"}", b"[" * 100_000, b'{"a":' * 10_000, b'{"a":\xd9\xa1}',
]  # fmt: skip


@pytest.mark.parametrize("body", MALFORMED, ids=lambda body: repr(body[:24]))
def test_what_is_not_one_well_formed_object_is_002(body: bytes) -> None:
    verdict = judge(body)
    assert (verdict.code, verdict.status, verdict.request_id) == ("002", 400, None)


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


CONTENT = [
    # body, query, code, place
    ("{}", "", "003", "requestId"),
    ("{}", "kernel=x", "003", "kernel"),
    (request(request_id='""'), "", "003", "requestId"),
    (request(request_id='"' + "x" * 129 + '"'), "", "003", "requestId"),
    (request(request_id="1.0"), "", "003", "requestId"),
    (request(request_id="1e0"), "", "003", "requestId"),
    (request(request_id="9223372036854775808"), "", "003", "requestId"),
    (request(request_id="null"), "", "003", "requestId"),
    ('{"requestId":1}', "", "003", "matrixOne"),
    (request(two="[]"), "", "003", "matrixTwo"),
    (request(one='{"rows":[]}'), "", "003", "matrixOne.columnCount"),
    (request(one=matrix('"1"', "0")), "", "003", "matrixOne.columnCount"),
    (request(one=matrix('"1"', "-0")), "", "003", "matrixOne.columnCount"),
    (request(one=matrix('"1"', "1.0")), "", "003", "matrixOne.columnCount"),
    (request(one='{"columnCount":1}'), "", "003", "matrixOne.rows"),
    (request(one='{"columnCount":1,"rows":[]}'), "", "003", "matrixOne.rows"),
    (request(one='{"columnCount":1,"rows":[[]]}'), "", "003", "matrixOne.rows[0]"),
    (request(one='{"columnCount":1,"rows":[{}]}'), "", "003", "matrixOne.rows[0].value"),
    (request(one=matrix('""')), "", "003", "matrixOne.rows[0].value"),
    (request(one=matrix("[]")), "", "003", "matrixOne.rows[0].value"),
    (request(one=matrix("1")), "", "003", "matrixOne.rows[0].value"),
    (request(one=matrix('"x"'), two="1"), "", "003", "matrixTwo"),
    (request(one=matrix('"1,"', "7")), "", "005", "matrixOne.rows[0].value[1]"),
    (request(one=matrix('","', "2")), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix('"  "')), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix('"+1"')), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix('"- 1"')), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix('"\\t1"')), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix('"\u0661"')), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix('"9223372036854775808"')), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix("[1.0]")), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix("[1e400]")), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix('["1"]')), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix("[-9223372036854775809]")), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix("[" + "9" * 9999 + "]")), "", "005", "matrixOne.rows[0].value[0]"),
    (request(one=matrix('"1"', "2"), two=matrix('"x"')), "", "005", "matrixTwo.rows[0].value[0]"),
    (request(one=matrix('"1"', "2")), "", "004", "matrixOne.rows[0]"),
    (request(two=matrix('"1"', "1" + "0" * 999)), "", "004", "matrixTwo.rows[0]"),
    (request(one=matrix('"1,2"', "2")), "", "001", None),
    (request(matrix('"9223372036854775807"'), matrix('"2"')), "", "006", "rows[0][0]"),
    (request(matrix('"-9223372036854775808"'), matrix('"-1"')), "", "006", "rows[0][0]"),
]


@pytest.mark.parametrize(("body", "query", "code", "place"), CONTENT)
def test_the_first_rule_that_is_broken_decides(
    body: str, query: str, code: str, place: str | None
) -> None:
    verdict = judge(body, query)
    assert (verdict.code, verdict.status) == (code, 422)
    (message,) = verdict.messages
    assert place is None or message.startswith(f"{place}: ")


RIGHT = [
    (matrix('"2"'), matrix('"3"'), b"[[6]]"),
    (matrix("[-0]"), matrix('" -007 "'), b"[[0]]"),
    (matrix('"4611686018427387904"'), matrix('"-2"'), b"[[-9223372036854775808]]"),
    (matrix('"' + "0" * 500 + '3"'), matrix("[3]"), b"[[9]]"),
    (
        '{"columnCount":3,"rows":[{"value":[9223372036854775807,9223372036854775807,1]}]}',
        '{"columnCount":1,"rows":[{"value":"2"},{"value":"-2"},{"value":"5"}]}',
        b"[[5]]",
    ),
]


@pytest.mark.parametrize(("one", "two", "rows"), RIGHT)
def test_a_right_request_has_its_exact_product(one: str, two: str, rows: bytes) -> None:
    assert judge(request(one, two)).product == b'{"requestId":"7","rows":' + rows + b"}"


def test_the_id_is_escaped_as_the_contract_says() -> None:
    sent = '"\\u001f\\u007f\\u2028\\/\\"\\\\\\n\\u0008"'
    told = judge(request(request_id=sent)).product
    expected = '{"requestId":"\\u001f\u007f\u2028/\\"\\\\\\n\\b","rows":[[4]]}'
    assert told == expected.encode()


def test_an_error_echoes_a_right_id_as_it_is_and_a_wrong_one_not_at_all() -> None:
    assert judge('{"requestId":7}').request_id == 7
    assert judge('{"requestId":"7"}').request_id == "7"
    assert judge('{"requestId":1.5}').request_id is None
    assert judge('{"requestId":7}', "kernel=x").request_id == 7
    assert judge('{"requestId":7').request_id is None


@pytest.mark.parametrize("query", ["", "kernel=loops", "kernel=%6eative", "x=%zz", "KERNEL=x"])
def test_the_kernel_may_be_one_of_two_or_missing(query: str) -> None:
    assert judge(request(), query).code == "ok"


@pytest.mark.parametrize(
    "query",
    ["kernel", "kernel=", "kernel=Loops", "kernel=loops&kernel=loops", "kernel=loops+", "kernel=%"],
)
def test_any_other_kernel_is_003(query: str) -> None:
    (message,) = judge(request(), query).messages
    assert message.startswith("kernel: ")


def test_path_then_method_then_media_type_then_size_decide_before_the_body() -> None:
    rules: list[tuple[str, Any]] = [
        ("target", "/matrix/SERIAL"),
        ("method", "GET"),
        ("content_type", "text/plain"),
        ("declared_bytes", LIMITS.body_bytes + 1),
    ]
    statuses = [judge("{", **dict(rules[first:])).status for first in range(5)]
    assert statuses == [404, 405, 415, 413, 400]


def test_a_405_names_the_method_of_the_path() -> None:
    assert judge("", method="PUT").allow == "POST"
    assert judge("", target="/health").allow == "GET"


def test_a_body_that_ends_before_its_length_is_002_though_it_is_well_formed() -> None:
    cut_off = frozenset({"the body was cut off"})
    assert judge(request(), is_whole=False) == Verdict("002", 400, messages=cut_off)


def test_the_product_s_limit_is_half_the_body_s_and_decides_before_006() -> None:
    side, largest = 224, str(2**63 - 1)
    column = ",".join([f'{{"value":"{largest}"}}'] * side)
    one = f'{{"columnCount":1,"rows":[{column}]}}'
    two = matrix('"' + ",".join(["2"] * side) + '"', str(side))
    too_large = frozenset({"the product has 50176 elements, the limit is 50000"})
    assert judge(request(one, two)) == Verdict("007", 413, 7, messages=too_large)
    smaller = matrix('"' + ",".join(["2"] * (side - 1)) + '"', str(side - 1))
    assert judge(request(one, smaller)).code == "006"


def test_each_kernel_has_a_limit_of_operations_that_decides_before_006() -> None:
    row = ",".join([str(2**63 - 1)] * 80)
    square = f'{{"columnCount":80,"rows":[{",".join([f"""{{"value":"{row}"}}"""] * 10)}]}}'
    ninety = ",".join([f'{{"value":"{",".join(["2"] * 90)}"}}'] * 80)
    two = f'{{"columnCount":90,"rows":[{ninety}]}}'
    too_much = frozenset({"operations: 72000, the limit is 60000"})
    assert judge(request(square, two)) == Verdict("011", 413, 7, messages=too_much)
    assert judge(request(square, two), "kernel=native").code == "006"
