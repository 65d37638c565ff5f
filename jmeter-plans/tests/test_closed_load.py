"""The plan tells right answers from wrong ones and writes what the analysis reads."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from conftest import REQUEST_REST, JMeter, jmeter_in
from stub_service import SERVER_TIMING, Answer, StubService, right

DASHBOARD_COLUMNS = [
    "timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType",
    "success", "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", "Latency",
    "IdleTime", "Connect",
]  # fmt: skip
WRONG_BODY = "The body is not this request's id with the exact answer"


def with_body(change: "tuple[str, str]", request_id: str) -> Answer:
    answer = right(request_id)
    body = answer.body.decode("ascii").replace(*change, 1).encode("ascii")
    assert body != answer.body
    return replace(answer, body=body)


Served = tuple[StubService, list[dict[str, str]]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Served:
    """A service that is right, and the samples of four users who each asked it ten times."""
    with StubService(right, delay_s=0.005) as service:
        run = jmeter_in(tmp_path_factory.mktemp("served"))
        kind = {"strategy": "pinned", "kernel": "native"}
        samples = run.run(service.port, users=4, loops=10, **kind).samples()
    return service, samples


def test_writes_the_columns_of_the_dashboard_generator_and_the_stages(served: Served) -> None:
    _, samples = served
    assert list(samples[0]) == [*DASHBOARD_COLUMNS, "serverTiming"]
    assert {sample["serverTiming"] for sample in samples} == {SERVER_TIMING}
    assert {sample["label"] for sample in samples} == {"a cell"}
    assert [sample["success"] for sample in samples] == ["true"] * 40


def test_sends_each_request_with_its_own_id_and_the_whole_payload(served: Served) -> None:
    service, _ = served
    ids = sorted(f"u{user}-{number}" for user in range(1, 5) for number in range(1, 11))
    assert sorted(service.request_ids) == ids
    assert set(service.paths) == {"/matrix/pinned?kernel=native"}
    for body in service.bodies:
        assert body.decode("ascii").partition(",")[2] == REQUEST_REST
        assert json.loads(body)["matrixTwo"]["columnCount"] == 2


def test_each_user_keeps_one_connection(served: Served) -> None:
    service, samples = served
    assert service.connections == 4
    connected = Counter(sample["threadName"] for sample in samples if sample["Connect"] != "0")
    assert max(connected.values(), default=0) <= 1


def test_sends_and_compares_bytes_of_any_encoding(jmeter: JMeter) -> None:
    (jmeter.folder / "payload" / "body-rest.json").write_bytes('"note":"Größe ≤ 3"}'.encode())
    (jmeter.folder / "payload" / "answer-rest.json").write_bytes('"rows":"Größe"}'.encode())
    with StubService(lambda request_id: right(request_id, '"Größe"')) as service:
        samples = jmeter.run(service.port, users=1, loops=2).samples()
    assert {body.partition(b",")[2] for body in service.bodies} == {'"note":"Größe ≤ 3"}'.encode()}
    assert [sample["success"] for sample in samples] == ["true", "true"]


#: In turn with right answers: each request that gets another body, and how that differs.
WRONG_BODIES = {
    "u1-2": ("139", "138"),
    "u1-4": ("u1-", "u2-"),
    "u1-6": ("]]}", "]] }"),
    "u1-8": ("]]}", "]]"),
    "u1-10": ("[[58", "[[58.0"),
    "u1-12": ("u1-12", "u1-11"),
}


def test_a_body_that_differs_anywhere_is_a_wrong_answer_and_the_next_is_right(
    jmeter: JMeter,
) -> None:
    def every_second_is_wrong(request_id: str) -> Answer:
        change = WRONG_BODIES.get(request_id)
        return with_body(change, request_id) if change else right(request_id)

    with StubService(every_second_is_wrong) as service:
        samples = jmeter.run(service.port, users=1, loops=13).samples()
    assert [sample["success"] for sample in samples] == ["true", "false"] * 6 + ["true"]
    assert {sample["responseCode"] for sample in samples} == {"200"}
    assert {sample["failureMessage"] for sample in samples[1::2]} == {WRONG_BODY}


def test_each_answer_is_judged_by_its_status_its_body_and_its_own_stages(jmeter: JMeter) -> None:
    """Right ones with stages and without, an error with either status, a right one with another."""

    def error(request_id: str) -> bytes:
        told = {"requestId": request_id, "errorCode": "008", "errorMessage": "busy"}
        return json.dumps(told).encode("ascii")

    def answer(request_id: str) -> Answer:
        return {
            "u1-1": right(request_id),
            "u1-2": replace(right(request_id), server_timing=None),
            "u1-3": Answer(200, error(request_id), server_timing=None),
            "u1-4": Answer(503, error(request_id), server_timing=None),
            "u1-5": replace(right(request_id), status=201),
        }[request_id]

    with StubService(answer) as service:
        samples = jmeter.run(service.port, users=1, loops=5).samples()
    assert [(s["success"], s["responseCode"], s["failureMessage"]) for s in samples[:4]] == [
        ("true", "200", ""),
        ("true", "200", ""),
        ("false", "200", WRONG_BODY),
        ("false", "503", "The status is not 200"),
    ]
    assert (samples[4]["success"], samples[4]["responseCode"]) == ("false", "201")
    assert [sample["serverTiming"] for sample in samples[:3]] == [SERVER_TIMING, "", ""]


def test_a_service_that_is_down_is_tried_once_a_request(jmeter: JMeter) -> None:
    with StubService(right) as service:
        port = service.port
    samples = jmeter.run(port, users=1, loops=2).samples()
    assert [sample["success"] for sample in samples] == ["false", "false"]
    assert {s["responseCode"].rpartition(".")[2] for s in samples} == {"HttpHostConnectException"}


@pytest.mark.parametrize("missing", ["body-rest.json", "answer-rest.json"])
def test_sends_nothing_when_a_file_of_the_payload_is_missing(jmeter: JMeter, missing: str) -> None:
    (jmeter.folder / "payload" / missing).unlink()
    with StubService(right) as service:
        run = jmeter.run(service.port, users=3, duration_s=5)
    assert service.bodies == []
    assert run.samples() == []
    assert f"ERROR o.a.j.f.LogFunction2: user 1-1  :  Nothing is sent: no readable {missing}" in (
        run.log.read_text(encoding="utf-8")
    )
