"""What an answer is judged to be."""

from __future__ import annotations

import pytest

from restbench.experiment.cell import Shape
from restbench_robustness.overload.exchange import Verdict, judge
from restbench_robustness.overload.mix import Request, draw, invalid, overload_mix, valid
from restbench_robustness.wire import Answer

SMALL = Shape(rows=2, inner=3, columns=2)
BUSY = b'{"requestId":null,"errorCode":"008","errorMessage":"busy"}'
REQUEST = valid("small", SMALL).request(7)
PRODUCT = b'{"requestId":"7","rows":' + REQUEST.rows + b"}"


def judged(request: Request, status: int, body: bytes, **headers: str) -> Verdict:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return judge(request, Answer(status, named, body))


def test_the_exact_product_is_right() -> None:
    assert judged(REQUEST, 200, PRODUCT) is Verdict.RIGHT


@pytest.mark.parametrize(
    "body",
    [
        PRODUCT.replace(b"]]", b"0]]"),
        PRODUCT.replace(b'"7"', b'"8"'),
        PRODUCT[:-1],
        PRODUCT + b"\n",
        b"",
    ],
)
def test_one_other_byte_is_wrong(body: bytes) -> None:
    assert judged(REQUEST, 200, body) is Verdict.WRONG


def test_a_refusal_needs_its_code_and_a_time_to_come_back() -> None:
    assert judged(REQUEST, 503, BUSY, retry_after="1") is Verdict.REFUSED
    assert judged(REQUEST, 503, BUSY) is Verdict.WRONG
    assert judged(REQUEST, 503, BUSY, retry_after="soon") is Verdict.WRONG
    assert judged(REQUEST, 503, BUSY.replace(b"008", b"007"), retry_after="1") is Verdict.WRONG
    assert judged(REQUEST, 503, b"<html>", retry_after="1") is Verdict.WRONG


def test_a_fault_is_told_by_its_code() -> None:
    told = b'{"requestId":7,"errorCode":"099","errorMessage":"fault"}'
    assert judged(REQUEST, 500, told) is Verdict.FAULT
    assert judged(REQUEST, 500, b"Internal Server Error") is Verdict.WRONG


def test_an_invalid_body_deserves_its_own_error_and_no_other() -> None:
    kinds = {kind.name: kind.request(7) for kind in invalid()}
    unequal = b'{"requestId":7,"errorCode":"001","errorMessage":"no"}'
    assert judged(kinds["unequal"], 422, unequal) is Verdict.RIGHT
    assert judged(kinds["unequal"], 400, unequal) is Verdict.WRONG
    assert judged(kinds["unequal"], 422, unequal.replace(b"7", b"8")) is Verdict.WRONG
    assert judged(kinds["letters"], 422, unequal) is Verdict.WRONG
    malformed = b'{"requestId":null,"errorCode":"002","errorMessage":"no"}'
    assert judged(kinds["cut off"], 400, malformed) is Verdict.RIGHT
    assert judged(kinds["cut off"], 400, malformed.replace(b"null", b"7")) is Verdict.WRONG
    assert judged(kinds["cut off"], 400, b'{"errorCode":"002"}') is Verdict.WRONG


def test_the_same_seed_draws_the_same_requests_of_every_kind() -> None:
    mix = overload_mix(SMALL)
    first, again, other = (draw(mix, seed) for seed in (1, 1, 2))
    drawn = [next(first) for _ in range(2000)]
    assert [next(again).body for _ in range(2000)] == [request.body for request in drawn]
    assert [next(other).kind for _ in range(2000)] != [request.kind for request in drawn]
    assert {request.kind for request in drawn} == {kind.name for kind, _ in mix}
    assert len({request.body for request in drawn}) == 2000
