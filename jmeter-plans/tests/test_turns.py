"""Strategies take turns at one load: whole rounds, never two at a time, each written down."""

import csv
import os
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from conftest import ROWS, JMeter, JMeterRun
from stub_service import Answer, StubService

STRATEGIES = ("serial", "pinned", "adaptive")
TURN_MS, LEFT_OUT_MS = 200, 50


@pytest.fixture
def load(jmeter: JMeter) -> JMeter:
    return JMeter(jmeter.folder, plan="mixed-load.jmx")


def right(request_id: str) -> Answer:
    return Answer(200, f'{{"requestId":"{request_id}","rows":{ROWS}}}'.encode())


def take_turns(load: JMeter, port: int, **properties: object) -> JMeterRun:
    given = {
        "strategy": "{turn}",
        "turns": ",".join(STRATEGIES),
        "turn_ms": TURN_MS,
        "turn_left_out_ms": LEFT_OUT_MS,
        "turns_file": load.folder / "turns.csv",
        "users": 3,
        "duration_s": 4,
    }
    return load.run(port, **given | properties)


def lines(folder: Path) -> list[list[str]]:
    with (folder / "turns.csv").open(encoding="ascii", newline="") as file:
        return list(csv.reader(file))


def test_every_strategy_has_one_turn_a_round_in_an_order_that_changes(load: JMeter) -> None:
    with StubService(right) as service:
        take_turns(load, service.port)
    names = [fields[0] for fields in lines(load.folder)]
    rounds = [tuple(names[at : at + 3]) for at in range(0, len(names) - 2, 3)]
    assert len(rounds) >= 4
    assert all(sorted(each) == sorted(STRATEGIES) for each in rounds)
    assert len(set(rounds)) > 1


def test_the_same_seed_gives_the_same_order_and_another_one_another(load: JMeter) -> None:
    def order(seed: int) -> list[str]:
        (load.folder / "turns.csv").unlink(missing_ok=True)
        with StubService(right) as service:
            take_turns(load, service.port, turns_seed=seed, turn_ms=60, turn_left_out_ms=10)
        return [fields[0] for fields in lines(load.folder)][:24]

    first = order(7)
    assert len(first) == 24
    assert order(7) == first
    assert order(8) != first


def test_each_turn_goes_to_its_own_strategy_and_never_meets_the_next(load: JMeter) -> None:
    with StubService(right) as service:
        samples = take_turns(load, service.port).samples()
        paths = list(service.paths)
    assert {sample["success"] for sample in samples} == {"true"}
    for sample in samples:
        assert f"/matrix/{sample['label']}?" in sample["URL"]
    turns = [name for name, _ in groupby(fields[0] for fields in lines(load.folder))]
    sent = [path.split("/")[2].partition("?")[0] for path, _ in groupby(paths)]
    assert sent[: len(turns)] == turns
    ends = {}
    for sample in sorted(samples, key=lambda each: int(each["timeStamp"])):
        start = int(sample["timeStamp"])
        ends[sample["label"]] = max(start + int(sample["elapsed"]), ends.get(sample["label"], 0))
        others = [end for name, end in ends.items() if name != sample["label"]]
        assert all(end <= start for end in others)


def test_what_is_measured_of_a_turn_begins_late_and_ends_when_it_is_over(load: JMeter) -> None:
    with StubService(right) as service:
        take_turns(load, service.port)
    found = [[int(number) for number in fields[1:]] for fields in lines(load.folder)]
    for opened_ms, _, _, closed_ms, _, _ in found:
        assert closed_ms - opened_ms > 0
    for before, after in pairwise(found):
        # Milliseconds are cut off at both ends, so one may be missing.
        assert after[0] - before[3] >= LEFT_OUT_MS - 1


def test_cpu_times_are_those_of_the_service_and_of_the_load_so_far(load: JMeter) -> None:
    with StubService(right) as service:
        take_turns(load, service.port, turns_pids=os.getpid())
    found = [[int(number) for number in fields[1:]] for fields in lines(load.folder)]
    for place in (1, 2):
        times = [time for each in found for time in (each[place], each[place + 3])]
        assert times == sorted(times)
        assert times[-1] > times[0]


def test_processes_that_are_gone_count_nothing(load: JMeter) -> None:
    with StubService(right) as service:
        take_turns(load, service.port, turns_pids=2**22 + 1, duration_s=2)
    assert {(fields[2], fields[5]) for fields in lines(load.folder)} == {("0", "0")}


def test_a_file_that_cannot_be_written_ends_the_load_and_the_log_says_why(load: JMeter) -> None:
    with StubService(right) as service:
        run = take_turns(load, service.port, turns_file=load.folder / "no" / "turns.csv")
    assert "no/turns.csv" in run.log.read_text()
    sent = {sample["label"] for sample in run.samples()}
    assert len(sent) == 1  # the first turn, which is written down when it is over


def test_without_turns_the_load_is_of_one_strategy_and_keeps_its_label(load: JMeter) -> None:
    with StubService(right) as service:
        samples = take_turns(load, service.port, turns="", strategy="pinned", loops=3).samples()
        assert set(service.paths) == {"/matrix/pinned?kernel=loops"}
    assert {sample["label"] for sample in samples} == {"a cell"}
    assert not (load.folder / "turns.csv").exists()
