"""Every example of the contract, under every strategy and kernel, over HTTP."""

import base64
import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_service import KERNELS, STRATEGIES, Answer, LiveService, request, running, wait_until

from restbench_service.execution.serial import Serial
from restbench_service.settings import Settings
from restbench_service.web import create_app
from restbench_service.workloads.matrix.workload import MatrixWorkload

FOLDER = Path(__file__).parents[2] / "contract" / "examples"
# The NAS kernels' examples are for a service that has them; this line goes when this one does.
EXAMPLES: dict[str, dict[str, Any]] = {
    p.stem: json.loads(p.read_text()) for p in FOLDER.glob("*") if "-npb-" not in p.stem
}
SERVER_TIMING = re.compile(
    ", ".join(rf"{stage};dur=\d+\.\d{{3}}" for stage in ("queue", "parse", "compute", "serialize"))
)


def paths_of(example: dict[str, Any]) -> Iterator[str]:
    path: str = example["request"]["path"]
    if "{strategy}" not in path:
        yield path
        return
    for strategy in STRATEGIES:
        concrete = path.replace("{strategy}", strategy)
        yield concrete
        if "kernel=" not in path:
            joint = "&" if "?" in path else "?"
            yield from (f"{concrete}{joint}kernel={kernel}" for kernel in KERNELS)


def body_of(example: dict[str, Any]) -> bytes:
    given = example["request"]
    if "bodyBase64" in given:
        return base64.b64decode(given["bodyBase64"])
    if "bodyText" in given:
        return str(given["bodyText"]).encode()
    return json.dumps(given["body"]).encode() if "body" in given else b""


CASES = [
    pytest.param(name, path, id=f"{name} {path}")
    for name, example in sorted(EXAMPLES.items())
    if "given" not in example
    for path in paths_of(example)
]


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
    else:
        check_error(example, path, answer.body.decode())


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


def test_the_strategies_of_these_tests_are_those_of_the_service(service: LiveService) -> None:
    listed = json.loads(service.request("GET", "/strategies").body)["strategies"]
    assert tuple(row["name"] for row in listed) == STRATEGIES


@pytest.mark.parametrize(("name", "path"), CASES)
def test_the_example_is_answered_as_the_contract_says(
    service: LiveService, name: str, path: str
) -> None:
    check(name, path, ask(service.port, name, path))


@contextmanager
def a_request_in_flight(port: int) -> Iterator[None]:
    """A request that is admitted and whose body does not come."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        head = "POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        client.sendall(f"{head}Content-Length: 10\r\n\r\n".encode())
        wait_until(lambda: b"requests_in_flight 1.0" in request(port, "GET", "/metrics").body)
        yield
        client.sendall(b"x" * 10)
        assert client.recv(12) == b"HTTP/1.1 400"


@pytest.mark.parametrize("limit", ["100", "1000"])
def test_what_is_above_the_limit_is_refused(tmp_path: Path, limit: str) -> None:
    with running(tmp_path / "log", MAX_BODY_BYTES=limit, PROCESSES="1") as service:
        for name in given(f"body-limit-{limit}"):
            for path in paths_of(EXAMPLES[name]):
                check(name, path, ask(service.port, name, path))


@pytest.mark.parametrize("name", given("in-flight-limit-reached"))
def test_a_request_above_the_limit_in_flight_is_refused(tmp_path: Path, name: str) -> None:
    path = EXAMPLES[name]["request"]["path"]
    with (
        running(tmp_path / "log", MAX_IN_FLIGHT="1", PROCESSES="1") as service,
        a_request_in_flight(service.port),
    ):
        check(name, path, ask(service.port, name, path))


@pytest.mark.parametrize("name", given("compute-fault"))
def test_a_fault_of_the_service_is_answered_and_logged_with_the_id(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a value of the request")

    monkeypatch.setattr(MatrixWorkload, "compute", fail)
    sent = EXAMPLES[name]["request"]
    client = create_app(Settings(), {"serial": Serial(None)}).test_client()
    response = client.post(sent["path"], data=body_of(EXAMPLES[name]), headers=sent["headers"])
    assert response.status_code == EXAMPLES[name]["status"]
    check_error(EXAMPLES[name], sent["path"], response.text)
    assert "2238" in caplog.text and "ZeroDivisionError" in caplog.text
    assert "in fail" in caplog.text and "a value of the request" not in caplog.text


def test_every_situation_of_the_examples_is_tested_above() -> None:
    limits = {"body-limit-100", "body-limit-1000"}
    situations = {*limits, "in-flight-limit-reached", "compute-fault", None}
    assert {example.get("given") for example in EXAMPLES.values()} == situations
