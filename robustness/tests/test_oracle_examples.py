"""The oracle says of every example of the contract what the example says."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from restbench_robustness.oracle import Limits, Oracle, Request, Verdict

STRATEGIES = ("serial", "pinned")
LIMITS = {
    "body-limit-100": Limits(body_bytes=100),
    "body-limit-1000": Limits(body_bytes=1000),
    "operations-limit-1000": Limits(loop_operations=1000, native_operations=1000),
    "loop-operations-limit-1000": Limits(loop_operations=1000),
}
SITUATIONS_OF_THE_SERVICE = {"in-flight-limit-reached", "compute-fault"}
FOLDER = Path(__file__).parents[2] / "contract" / "examples"
EXAMPLES: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))
}
#: The oracle knows the matrix; the NAS kernels have one request each and no arithmetic to guess.
JUDGED = [
    name
    for name, example in EXAMPLES.items()
    if example.get("given") not in SITUATIONS_OF_THE_SERVICE
    and not example["request"]["path"].startswith("/npb-")
]


def body_of(request: dict[str, Any]) -> bytes:
    if "bodyBase64" in request:
        return base64.b64decode(request["bodyBase64"])
    if "bodyText" in request:
        return str(request["bodyText"]).encode()
    return json.dumps(request["body"]).encode() if "body" in request else b""


def judged(example: dict[str, Any]) -> Verdict:
    request = example["request"]
    body = body_of(request)
    content_type = {k.lower(): v for k, v in request["headers"].items()}.get("content-type")
    target = request["path"].replace("{strategy}", "serial")
    limits = LIMITS.get(example.get("given", ""), Limits())
    verdict = Oracle(STRATEGIES, limits).judge(
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
