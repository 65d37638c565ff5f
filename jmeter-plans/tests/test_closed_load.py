"""The plan tells right answers from wrong ones and writes what the analysis reads."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from conftest import REQUEST_REST, ROWS, JMeter
from stub_service import SERVER_TIMING, Answer, StubService

DASHBOARD_COLUMNS = [
    "timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType",
    "success", "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", "Latency",
    "IdleTime", "Connect",
]  # fmt: skip
WRONG_BODY = "The body is not this request's id with the exact answer"


def right(request_id: str) -> Answer:
    return Answer(200, f'{{"requestId":"{request_id}","rows":{ROWS}}}'.encode("ascii"))


def with_body(change: "tuple[str, str]", request_id: str) -> Answer:
    answer = right(request_id)
    body = answer.body.decode("ascii").replace(*change, 1).encode("ascii")
    assert body != answer.body
    return replace(answer, body=body)


def test_writes_the_columns_of_the_dashboard_generator_and_the_stages(jmeter: JMeter) -> None:
    with StubService(right) as service:
        samples = jmeter.run(service.port, users=2, loops=3).samples()
    assert list(samples[0]) == [*DASHBOARD_COLUMNS, "serverTiming"]
    assert {sample["serverTiming"] for sample in samples} == {SERVER_TIMING}
    assert {sample["label"] for sample in samples} == {"a cell"}
    assert {sample["success"] for sample in samples} == {"true"}


def test_sends_each_request_with_its_own_id_and_the_whole_payload(jmeter: JMeter) -> None:
    with StubService(right) as service:
        jmeter.run(service.port, users=3, loops=4, strategy="pinned", kernel="native")
    assert sorted(service.request_ids) == [f"u{u}-{n}" for u in (1, 2, 3) for n in (1, 2, 3, 4)]
    assert set(service.paths) == {"/matrix/pinned?kernel=native"}
    for body in service.bodies:
        assert body.decode("ascii").partition(",")[2] == REQUEST_REST
        assert json.loads(body)["matrixTwo"]["columnCount"] == 2


def test_sends_and_compares_bytes_of_any_encoding(jmeter: JMeter) -> None:
    (jmeter.folder / "payload" / "body-rest.json").write_bytes('"note":"Größe ≤ 3"}'.encode())
    (jmeter.folder / "payload" / "answer-rest.json").write_bytes('"rows":"Größe"}'.encode())
    with StubService(
        lambda request_id: Answer(200, f'{{"requestId":"{request_id}","rows":"Größe"}}'.encode())
    ) as service:
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


@pytest.mark.parametrize("status", [200, 503])
def test_an_error_body_fails_whatever_its_status(jmeter: JMeter, status: int) -> None:
    def refuse(request_id: str) -> Answer:
        error = {"requestId": request_id, "errorCode": "008", "errorMessage": "busy"}
        return Answer(status, json.dumps(error).encode("ascii"), server_timing=None)

    with StubService(refuse) as service:
        samples = jmeter.run(service.port, users=1, loops=2).samples()
    message = WRONG_BODY if status == 200 else "The status is not 200"
    assert [(s["success"], s["responseCode"], s["failureMessage"]) for s in samples] == [
        ("false", str(status), message)
    ] * 2


def test_a_right_body_with_another_status_fails(jmeter: JMeter) -> None:
    with StubService(lambda request_id: replace(right(request_id), status=201)) as service:
        samples = jmeter.run(service.port, users=1, loops=1).samples()
    assert samples[0]["success"] == "false"


def test_stages_of_one_answer_are_never_written_for_the_next(jmeter: JMeter) -> None:
    def only_first_has_stages(request_id: str) -> Answer:
        return replace(
            right(request_id), server_timing=SERVER_TIMING if request_id == "u1-1" else None
        )

    with StubService(only_first_has_stages) as service:
        samples = jmeter.run(service.port, users=1, loops=2).samples()
    assert [sample["serverTiming"] for sample in samples] == [SERVER_TIMING, ""]


def test_each_user_keeps_one_connection(jmeter: JMeter) -> None:
    with StubService(right, delay_s=0.005) as service:
        samples = jmeter.run(service.port, users=4, loops=10).samples()
    assert service.connections == 4
    connected = Counter(sample["threadName"] for sample in samples if sample["Connect"] != "0")
    assert max(connected.values(), default=0) <= 1
    assert len(samples) == 40


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
