"""The mixed plan sends each kind in its share, and tells right answers of each from wrong ones."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import REQUEST_REST, ROWS, JMeter, JMeterRun
from stub_service import SERVER_TIMING, Answer, StubService

COLUMNS = "serverTiming,kind"
#: Larger than every buffer on its way, so that it arrives in pieces.
HUGE_REST = '"note":"' + "n" * 700_000 + '"}'
HUGE_ROWS = "[[" + ",".join(str(n) for n in range(100_000)) + "]]"
ORDER = ["low", "low", "huge", "low"]
WRONG_BODY = "The body is not this request's id with the exact product"


@pytest.fixture
def mixed(tmp_path: Path) -> JMeter:
    for name, rest, rows in (("low", REQUEST_REST, ROWS), ("huge", HUGE_REST, HUGE_ROWS)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "body-rest.json").write_text(rest)
        (tmp_path / name / "rows.json").write_text(rows)
    (tmp_path / "mix").mkdir()
    (tmp_path / "mix" / "order.txt").write_text("\n".join(ORDER) + "\n")
    return JMeter(tmp_path, plan="mixed-load.jmx")


def send(mixed: JMeter, port: int, **properties: object) -> JMeterRun:
    given = {"payload": mixed.folder / "mix", "sample_variables": COLUMNS} | properties
    return mixed.run(port, **given)


class Answers:
    """The right answer to whatever is sent; `service` is known once it is there."""

    def __init__(self) -> None:
        self.service: StubService | None = None

    def __call__(self, request_id: str) -> Answer:
        assert self.service is not None
        (body,) = (b for b in self.service.bodies if f'"{request_id}"'.encode() in b[:40])
        rows = HUGE_ROWS if len(body) > len(HUGE_REST) else ROWS
        return Answer(200, f'{{"requestId":"{request_id}","rows":{rows}}}'.encode())


def serving(answers: Answers, **changes: Answer) -> StubService:
    def answer(request_id: str) -> Answer:
        return changes.get(request_id.replace("-", "_")) or answers(request_id)

    answers.service = StubService(answer)
    return answers.service


def test_kinds_are_sent_in_the_order_of_the_file_again_and_again(mixed: JMeter) -> None:
    with serving(Answers()) as service:
        samples = send(mixed, service.port, users=1, loops=8).samples()
    assert [sample["kind"] for sample in samples] == ORDER * 2
    assert [sample["success"] for sample in samples] == ["true"] * 8
    assert {sample["serverTiming"] for sample in samples} == {SERVER_TIMING}
    assert {sample["label"] for sample in samples} == {"a cell"}
    assert service.connections == 1


def test_users_share_the_order_so_that_shares_are_exact_over_all_of_them(mixed: JMeter) -> None:
    with serving(Answers()) as service:
        samples = send(
            mixed, service.port, users=4, loops=5, strategy="pinned", kernel="native"
        ).samples()
    assert Counter(sample["kind"] for sample in samples) == {"low": 15, "huge": 5}
    assert sorted(service.request_ids) == sorted(
        f"u{u}-{n}" for u in range(1, 5) for n in range(1, 6)
    )
    assert set(service.paths) == {"/matrix/pinned?kernel=native"}
    rests = Counter(body.partition(b",")[2].decode() for body in service.bodies)
    assert rests == {REQUEST_REST: 15, HUGE_REST: 5}


def test_a_folder_without_an_order_is_the_one_kind_there_is(mixed: JMeter) -> None:
    with serving(Answers()) as service:
        payload = mixed.folder / "huge"
        samples = send(mixed, service.port, users=1, loops=2, payload=payload).samples()
    assert [(s["kind"], s["success"]) for s in samples] == [("huge", "true")] * 2


def test_sizes_are_told_of_each_kind(mixed: JMeter) -> None:
    with serving(Answers()) as service:
        samples = send(mixed, service.port, users=1, loops=4).samples()
    assert all(int(s["sentBytes"]) > len(HUGE_REST) for s in samples if s["kind"] == "huge")
    assert all(int(s["bytes"]) > len(HUGE_ROWS) for s in samples if s["kind"] == "huge")
    assert all(int(s["bytes"]) < 1_000 for s in samples if s["kind"] == "low")


#: Each differs from the right answer to one request in one respect.
WRONG = {
    "its last digit": f'{{"requestId":"u1-1","rows":{HUGE_ROWS[:-3]}8]]}}',
    "another id": f'{{"requestId":"u1-1","rows":{HUGE_ROWS}}}',
    "a space more": f'{{"requestId":"u1-3","rows":{HUGE_ROWS}}} ',
    "cut off": f'{{"requestId":"u1-4","rows":{HUGE_ROWS}',
    "another kind's": f'{{"requestId":"u1-5","rows":{ROWS}}}',
    "empty": "",
}


def test_an_answer_that_differs_anywhere_is_wrong_and_the_next_is_right(mixed: JMeter) -> None:
    changes = {f"u1_{n}": Answer(200, body.encode()) for n, body in enumerate(WRONG.values(), 1)}
    with serving(Answers(), **changes) as service:
        payload = mixed.folder / "huge"
        samples = send(mixed, service.port, users=1, loops=7, payload=payload).samples()
    assert [sample["success"] for sample in samples] == ["false"] * 6 + ["true"]
    assert {sample["responseCode"] for sample in samples} == {"200"}
    assert {sample["failureMessage"] for sample in samples[:6]} == {WRONG_BODY}


def test_a_refusal_is_an_error_and_tells_no_stages_of_an_answer_before(mixed: JMeter) -> None:
    with serving(Answers(), u1_2=Answer(503, b"{}", server_timing=None)) as service:
        samples = send(mixed, service.port, users=1, loops=3).samples()
    assert [sample["responseCode"] for sample in samples] == ["200", "503", "200"]
    assert samples[1]["failureMessage"] == "The status is not 200"
    assert [sample["serverTiming"] for sample in samples] == [SERVER_TIMING, "", SERVER_TIMING]


def test_a_service_that_is_down_is_an_error_a_request(mixed: JMeter) -> None:
    with serving(Answers()) as service:
        port = service.port
    samples = send(mixed, port, users=1, loops=3).samples()
    assert len(samples) == 3
    assert {sample["success"] for sample in samples} == {"false"}
    assert all(sample["responseCode"].startswith("Non HTTP") for sample in samples)


def test_a_body_that_is_not_there_sends_nothing_and_the_log_names_it(mixed: JMeter) -> None:
    (mixed.folder / "huge" / "rows.json").unlink()
    with serving(Answers()) as service:
        run = send(mixed, service.port, users=2, loops=3)
    assert service.bodies == []
    assert "huge/rows.json" in run.log.read_text()
    assert not run.jtl.exists() or run.samples() == []


def test_many_users_with_large_bodies_need_no_more_memory_than_one(
    mixed: JMeter, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Kept a user, as JMeter's own sampler does, their bodies and answers would be 80 MB and more.
    rest, rows = '"note":"' + "n" * 1_000_000 + '"}', "[[" + "1," * 500_000 + "1]]"
    (mixed.folder / "huge" / "body-rest.json").write_text(rest)
    (mixed.folder / "huge" / "rows.json").write_text(rows)
    (mixed.folder / "mix" / "order.txt").write_text("huge\n")
    monkeypatch.setenv("JMETER_JVM_ARGS", "-Xms60m -Xmn24m -Xmx60m")
    right = replace(Answer(200, b""), server_timing=None)

    def answer(request_id: str) -> Answer:
        return replace(right, body=f'{{"requestId":"{request_id}","rows":{rows}}}'.encode())

    with StubService(answer) as service:
        samples = send(mixed, service.port, users=40, loops=2).samples()
    assert [sample["success"] for sample in samples] == ["true"] * 80
