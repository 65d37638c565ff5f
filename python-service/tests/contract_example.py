"""The contract's examples, and how an answer is held against one; the form is in its README."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from live_service import KERNELS, STRATEGIES, Answer, request

FOLDER = Path(__file__).parents[2] / "contract" / "examples"
EXAMPLES: dict[str, dict[str, Any]] = {p.stem: json.loads(p.read_text()) for p in FOLDER.glob("*")}
SERVER_TIMING = re.compile(
    r"(delay;dur=\d+\.\d{3}, )?queue;dur=\d+\.\d{3}"
    + "".join(rf", {stage};dur=\d+\.\d{{3}}" for stage in ("parse", "compute", "serialize"))
)


def paths_of(example: dict[str, Any]) -> Iterator[str]:
    path: str = example["request"]["path"]
    if "{strategy}" not in path:
        yield path
        return
    for strategy in STRATEGIES:
        concrete = path.replace("{strategy}", strategy)
        yield concrete
        if path.startswith("/matrix/") and "kernel=" not in path:
            joint = "&" if "?" in path else "?"
            yield from (f"{concrete}{joint}kernel={kernel}" for kernel in KERNELS)


def body_of(example: dict[str, Any]) -> bytes:
    given = example["request"]
    if "bodyBase64" in given:
        return base64.b64decode(given["bodyBase64"])
    if "bodyText" in given:
        return str(given["bodyText"]).encode()
    return json.dumps(given["body"]).encode() if "body" in given else b""


def given(situation: str) -> list[str]:
    return sorted(name for name, example in EXAMPLES.items() if example.get("given") == situation)


def ask(port: int, name: str, path: str) -> Answer:
    sent = EXAMPLES[name]["request"]
    return request(port, sent["method"], path, body_of(EXAMPLES[name]), sent["headers"])


def check(name: str, path: str, answer: Answer) -> None:
    example = EXAMPLES[name]
    assert answer.status == example["status"], answer.body
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Content-Length"] == str(len(answer.body))
    for header, value in example.get("responseHeaders", {}).items():
        assert value in re.split(" *, *", answer.headers[header])
    if "responseText" in example:
        assert answer.body == example["responseText"].encode()
        assert SERVER_TIMING.fullmatch(answer.headers["Server-Timing"])
    elif "varying" in example:
        check_varying(example, answer.body.decode())
        assert SERVER_TIMING.fullmatch(answer.headers["Server-Timing"])
    else:
        check_error(example, path, answer.body.decode())


def check_varying(example: dict[str, Any], text: str) -> None:
    """Each member equal, or near enough where the example says that it varies."""
    members, expected, varying = json.loads(text), example["response"], example["varying"]
    assert list(members) == list(expected)
    assert not re.search(r"\s", text)
    for name, value in expected.items():
        if name not in varying:
            assert (members[name], type(members[name])) == (value, type(value)), name
        elif varying[name] is None:
            assert members[name] > 0, name
        else:
            assert np.shape(members[name]) == np.shape(value)
            np.testing.assert_allclose(members[name], value, rtol=varying[name], atol=0)


def check_error(example: dict[str, Any], path: str, text: str) -> None:
    error, expected = json.loads(text), example["response"]
    assert set(error) == {"requestId", "errorCode", "errorMessage"}
    assert {name: error[name] for name in expected} == expected
    assert type(error["requestId"]) is type(expected["requestId"])
    message: str = error["errorMessage"]
    assert 1 <= len(message) <= 300
    assert example.get("where", "") in message
    assert not re.search(r"Traceback|Error\b|Exception|restbench_service|\.py", message)
    sent = body_of(example).decode(errors="replace")
    assert not any(
        message[i : i + 41] in sent or message[i : i + 41] in path for i in range(len(message) - 40)
    )
