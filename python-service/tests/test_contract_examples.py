"""Every example of the contract, under every strategy and kernel, over HTTP."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from contract_example import EXAMPLES, ask, body_of, check, check_error, given, paths_of
from live_service import STRATEGIES, LiveService, request, running, wait_until

from restbench_service.execution.serial import Serial
from restbench_service.settings import Settings
from restbench_service.web import create_app
from restbench_service.workloads.matrix.workload import MatrixWorkload

CASES = [
    pytest.param(name, path, id=f"{name} {path}")
    for name, example in sorted(EXAMPLES.items())
    if "given" not in example
    for path in paths_of(example)
]


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
    memory = {"memory-held", "memory-limit-100-mib"}
    situations = {*limits, *memory, "in-flight-limit-reached", "compute-fault", None}
    assert {example.get("given") for example in EXAMPLES.values()} == situations
