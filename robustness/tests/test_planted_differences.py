"""The fuzzer finds a service that is wrong in one thing only, and shows it small."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from stub_service import LIMITS, STRATEGIES, Answer, Fault, right, serving, written

from restbench_robustness.bodies.sources import SOURCES
from restbench_robustness.campaign import Campaign, Tally
from restbench_robustness.comparison import Bench
from restbench_robustness.oracle import Oracle, Request

BODIES = 200
#: The stub speaks HTTP for bodies only, and is no place for megabytes.
BODIES_ONLY = ("right requests", "overflow", "wrong members", "wrong sizes", "odd spellings")


def campaign(fault: Fault, timeout_s: float = 60.0, most_findings: int = 1) -> Tally:
    with serving("java") as sound, serving("python", fault) as faulty:
        bench = Bench([sound, faulty], LIMITS, timeout_s)
        try:
            sources = [it for it in SOURCES if it.name in BODIES_ONLY]
            return Campaign(bench, BODIES, 7, most_findings).run(sources)
        finally:
            bench.close()


def wraps_sums_to_64_bits(request: Request, answer: Answer) -> Answer:
    status, body = answer
    return (200, wrapped_product(request.body)) if b'"006"' in body else (status, body)


def wrapped_product(body: bytes) -> bytes:
    request: dict[str, Any] = json.loads(body)
    one, two = (elements(request[name]) for name in ("matrixOne", "matrixTwo"))
    rows = [
        [wrapped(sum(map(int.__mul__, row, col))) for col in zip(*two, strict=True)] for row in one
    ]
    answer = {"requestId": str(request["requestId"]), "rows": rows}
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode()


def elements(matrix: dict[str, Any]) -> list[list[int]]:
    values = [row["value"] for row in matrix["rows"]]
    return [[int(x) for x in (v.split(",") if isinstance(v, str) else v)] for v in values]


def wrapped(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def keeps_the_last_of_two_members(request: Request, answer: Answer) -> Answer:
    try:
        last = json.loads(request.body)
    except ValueError:
        return answer
    body = json.dumps(last, ensure_ascii=False).encode("utf-8", "surrogatepass")
    verdict = Oracle(STRATEGIES, LIMITS).judge(
        Request("POST", request.target, request.content_type, body, len(body))
    )
    return written(verdict) if verdict and b'"002"' in answer[1] else answer


def names_another_place(_request: Request, answer: Answer) -> Answer:
    return answer[0], answer[1].replace(b"].value[", b"].value [")


def fails_with_500(_request: Request, answer: Answer) -> Answer:
    return (500, answer[1]) if b'"005"' in answer[1] else answer


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        (wraps_sums_to_64_bits, "status 200, not 422"),
        (keeps_the_last_of_two_members, "not 400"),
        (names_another_place, "errorMessage"),
        (fails_with_500, "status 500, not 422"),
    ],
)
def test_a_planted_fault_is_found_and_made_small(fault: Fault, shown: str) -> None:
    findings = campaign(fault).findings
    assert findings
    assert all("python: " in line for it in findings for line in it.outcome.differences[:1])
    assert any(shown in line for it in findings for line in it.outcome.differences)
    assert all(it.repeats for it in findings)
    assert min(len(it.message.body) for it in findings) < 250


def test_a_sound_service_is_not_accused() -> None:
    tally = campaign(right)
    assert tally.bodies == BODIES
    assert tally.findings == []


def test_a_service_that_falls_silent_is_a_finding() -> None:
    def sleeps(_request: Request, answer: Answer) -> Answer:
        time.sleep(2 if b'"005"' in answer[1] else 0)
        return answer

    findings = campaign(sleeps, timeout_s=0.2).findings
    assert any("silent for" in line for it in findings for line in it.outcome.differences)


def test_a_fault_that_shows_only_once_is_kept_and_marked() -> None:
    shown: list[Request] = []

    def once(request: Request, answer: Answer) -> Answer:
        if shown or b'"005"' not in answer[1]:
            return answer
        shown.append(request)
        return 500, answer[1]

    findings = campaign(once).findings
    assert [it.repeats for it in findings] == [False]
    assert findings[0].message.body == shown[0].body


def test_a_service_that_is_wrong_everywhere_ends_the_campaign_early() -> None:
    tally = campaign(lambda _request, answer: (500, answer[1]), most_findings=2)
    assert tally.failures == 2
    assert tally.bodies < BODIES
