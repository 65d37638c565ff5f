"""The open plan sends at the moments of its schedule, whatever the service does."""

from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROWS, JMeter
from stub_service import Answer, StubService

NOTED = "serverTiming,arrival,intended_ms"


def right(request_id: str) -> Answer:
    return Answer(200, f'{{"requestId":"{request_id}","rows":{ROWS}}}'.encode("ascii"))


@pytest.fixture
def open_load(jmeter: JMeter) -> JMeter:
    return replace(jmeter, plan="open-load.jmx")


def schedule(folder: Path, offsets_ms: "list[int]") -> Path:
    path = folder / "arrivals.csv"
    lines = [f"{number},{offset}" for number, offset in enumerate(offsets_ms, start=1)]
    path.write_text("\n".join(["arrival,offset_ms", *lines, ""]), encoding="ascii")
    return path


def run(
    open_load: JMeter, service: StubService, offsets_ms: "list[int]", **properties: object
) -> "list[dict[str, str]]":
    arrivals = schedule(open_load.folder, offsets_ms)
    given = {"arrivals": arrivals, "sample_variables": NOTED, "lead_ms": 300} | properties
    samples = open_load.run(service.port, **given).samples()
    return sorted(samples, key=lambda sample: int(sample["arrival"]))


def lateness_ms(sample: "dict[str, str]") -> int:
    return int(sample["timeStamp"]) - int(sample["intended_ms"])


def latency_ms(sample: "dict[str, str]") -> int:
    return lateness_ms(sample) + int(sample["elapsed"])


def test_sends_each_arrival_once_with_its_number_and_notes_its_moment(open_load: JMeter) -> None:
    offsets = [0, 3, 3, 50, 400, 1100]
    with StubService(right) as service:
        samples = run(open_load, service, offsets, users=4)
    assert [int(sample["arrival"]) for sample in samples] == [1, 2, 3, 4, 5, 6]
    assert sorted(service.request_ids) == ["a1", "a2", "a3", "a4", "a5", "a6"]
    assert {sample["success"] for sample in samples} == {"true"}
    starts = {
        int(sample["intended_ms"]) - offset for sample, offset in zip(samples, offsets, strict=True)
    }
    assert len(starts) == 1


def test_sends_nothing_before_its_moment(open_load: JMeter) -> None:
    with StubService(right) as service:
        samples = run(open_load, service, list(range(0, 1500, 10)), users=8)
    # JMeter's clock of samples is another than its clock of days, to the millisecond.
    # And sets it by two readings, between which a busy machine may do something else.
    assert min(lateness_ms(sample) for sample in samples) >= -100
    assert service.connections <= 8


def test_an_arrival_that_finds_all_users_busy_is_sent_late_and_shows_it(
    open_load: JMeter,
) -> None:
    with StubService(right, delay_s=0.4) as service:
        samples = run(open_load, service, [0, 0, 0, 0, 0, 0], users=2)
    assert len(samples) == 6
    last = sorted(samples, key=latency_ms)[-2:]
    # Two at a time, 0.4 s each: the last two wait for two rounds before their own.
    assert all(latency_ms(sample) >= 1200 for sample in last)
    assert all(int(sample["elapsed"]) <= latency_ms(sample) - 800 for sample in last)


def test_arrivals_that_are_not_sent_in_time_are_missing_and_those_in_flight_are_waited_for(
    open_load: JMeter,
) -> None:
    with StubService(right, delay_s=0.6) as service:
        samples = run(open_load, service, [100] * 50, users=2, duration_s=4)
    # Sorted: of two answers in the same moment either may be written down first.
    sent = sorted(int(sample["arrival"]) for sample in samples)
    assert sent == list(range(1, len(sent) + 1))
    assert 1 <= len(sent) < 50
    assert len(service.bodies) == len(sent)
    assert {sample["success"] for sample in samples} == {"true"}


def test_a_wrong_body_and_a_wrong_status_are_no_success(open_load: JMeter) -> None:
    def answer(request_id: str) -> Answer:
        return {"a1": Answer(503, b"{}"), "a2": right("a3")}.get(request_id, right(request_id))

    with StubService(answer) as service:
        samples = run(open_load, service, [0, 10, 20])
    assert [sample["success"] for sample in samples] == ["false", "false", "true"]
    assert [sample["responseCode"] for sample in samples] == ["503", "200", "200"]


@pytest.mark.parametrize("name", ["body-rest.json", "rows.json"])
def test_sends_nothing_without_a_payload(open_load: JMeter, name: str) -> None:
    (open_load.folder / "payload" / name).unlink()
    with StubService(right) as service:
        arrivals = schedule(open_load.folder, [0, 10])
        finished = open_load.run(service.port, arrivals=arrivals)
    assert service.bodies == []
    assert name in finished.log.read_text(encoding="utf-8")


def test_sends_nothing_without_a_schedule(open_load: JMeter) -> None:
    with StubService(right) as service:
        finished = open_load.run(service.port, arrivals=open_load.folder / "none.csv")
    assert service.bodies == []
    assert "none.csv" in finished.log.read_text(encoding="utf-8")


def test_the_example_schedule_runs_by_hand(open_load: JMeter) -> None:
    with StubService(right) as service:
        open_load.run(service.port)
    assert sorted(service.request_ids) == ["a1", "a2", "a3", "a4", "a5"]
