"""Batches of calls: what has to be true of one, its least time, and bad input."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import httpx
import pytest
from command_line import restbench
from made_blocks import block_of

from restbench.analyse.calls import OneCall
from restbench.commands import calls as command
from restbench.deploy.service import Service
from restbench.drive import batches
from restbench.drive.batches import SingleCall
from restbench.drive.call_client import Batch, BatchResult, CallLine
from restbench.experiment.calls import CallWork
from restbench.experiment.cell import Cell, Shape
from restbench.failures import BadConfiguration, CellsFailed, EnvironmentProblem, WrongAnswers
from restbench.schedule.calls import CallsDriver
from restbench.schedule.pace import PlannedTrial, TrialGroup

SERVICE = cast("Service", SimpleNamespace(base_url="http://here"))
STAGE = {"wall_s": 0.1, "cpu_s": 0.1}
BATCH = Batch("http://127.0.0.1:1/?delay=100", 3, Path("in"), strategy="task-pool", threads=2)
RESULT = BatchResult(
    elapsed_s=0.2,
    outcomes=3,
    done=3,
    failed={},
    cancelled=0,
    wrong=0,
    attempts=3,
    retries=0,
    cpu_s=0.01,
    peak_in_flight=2,
    threads={"call-pool": 2},
    stages=dict.fromkeys("SCDP", STAGE),
    compile_s=0,
    gc_s=0,
)
LINES = [CallLine(index=n, outcome="done", c_ms=100.5) for n in range(3)]


def test_a_batch_that_is_as_it_has_to_be_has_no_fault() -> None:
    assert batches.faults(BATCH, 100, RESULT, LINES, 3) == []


@pytest.mark.parametrize(
    ("result", "lines", "served", "said"),
    [
        ({"failed": {"TIMEOUT": 1}}, LINES, 3, 'calls failed: {"TIMEOUT": 1}'),
        ({"cancelled": 2}, LINES, 3, 'calls failed: {"cancelled": 2}'),
        ({}, LINES[:2], 3, "outcomes: "),
        ({}, [LINES[0], *LINES[:2]], 3, "outcomes: "),
        ({}, LINES, 4, "the service counted 4 requests, 3 were sent"),
        ({}, [LINES[0].model_copy(update={"c_ms": 98.0}), *LINES[1:]], 3, "delay-not-honoured"),
        ({"peak_in_flight": 3}, LINES, 3, "3 calls in flight, at most 2"),
        ({"elapsed_s": 0.05}, LINES, 3, "6.03 calls in flight on average, 2 were asked for"),
        ({"threads": {"call-pool": 3}}, LINES, 3, "threads {'call-pool': 3}: 2 of call-pool were"),
        ({"threads": {"call-cpu": 2}}, LINES, 3, "threads {'call-cpu': 2}: 2 of call-pool were"),
    ],
)
def test_what_is_not_as_it_has_to_be_is_said(result, lines, served, said) -> None:
    found = RESULT.model_copy(update=result)
    faults = batches.faults(BATCH, 100, found, lines, served)
    assert len(faults) == 1
    assert faults[0].startswith(said)


def test_a_document_whose_rows_one_thread_or_too_many_ran_is_said() -> None:
    batch = replace(BATCH, loop_threads=4)
    said = {}
    for number in range(6):
        found = RESULT.model_copy(update={"threads": {"call-pool": 2, "loop": number}})
        said[number] = batches.faults(batch, 100, found, LINES, 3)
    assert batches.faults(batch, 100, RESULT, LINES, 3) == said[0]
    assert said == {
        number: [f"{number} threads ran a document's rows, 4 were asked for"]
        if number in (0, 1, 5)
        else []
        for number in range(6)
    }
    alone = replace(BATCH, loop_threads=1)
    assert batches.faults(alone, 100, RESULT, LINES, 3) == []


def test_the_limit_counts_the_service_where_it_shares_the_cores_and_one_core_for_python() -> None:
    alone = SingleCall(OneCall(0.001, 0.001, 0, 0.001, 0.001), 0.004, 0.006, is_python=False)
    batch = replace(BATCH, strategy="async")
    assert batches.limit_s(batch, 100, 0, alone, 2, is_shared=True) == pytest.approx(0.5)
    assert batches.limit_s(batch, 100, 0, alone, 2, is_shared=False) == pytest.approx(0.2)
    python = replace(alone, is_python=True)
    assert batches.limit_s(batch, 100, 0, python, 2, is_shared=False) == pytest.approx(0.4)


def test_the_limit_is_by_the_batch_whose_calls_took_the_least_cpu_time() -> None:
    alone = SingleCall(OneCall(0.001, 0.001, 0, 0.001, 0.001), 0.004, 0.006, is_python=False)
    assert alone.at_most(0.005, 0.006) == alone
    assert alone.at_most(0.005, 0.004) == replace(alone, client_s=0.005, service_s=0.004)


ALONE = SingleCall(OneCall(0.001, 0.001, 0, 0.004, 0.001), 0.004, 0.006, is_python=False)


def test_pipelines_are_given_the_teams_that_their_threads_make() -> None:
    for strategy, teams in (
        ("pipeline", (1, 5, 1, 1)),
        ("pipeline-async", (3, 4, 1)),
        ("async", None),
    ):
        made = batches.with_team_sizes(replace(BATCH, strategy=strategy, threads=8))
        assert made.teams == teams
    made = batches.with_team_sizes(replace(BATCH, strategy="pipeline-async", threads=8), ALONE.one)
    assert made.teams == (2, 5, 1)


class Asked:
    """What a service says of itself: its longest delay, and whether it has SOAP."""

    base_url = "http://here"

    def __init__(self, settings: dict[str, int], *, has_soap: bool = False) -> None:
        self.settings, self.has_soap = settings, has_soap

    def health(self) -> dict[str, object]:
        return {"settings": self.settings}

    def get(self, _path: str) -> httpx.Response:
        return httpx.Response(200 if self.has_soap else 404)


def test_what_a_service_cannot_do_is_said_before_the_first_call() -> None:
    able = Asked({"maxDelayMillis": 10_000}, has_soap=True)
    batches.require(cast(Service, able), 10_000, is_soap=True)
    for settings, delay_ms, is_soap, said in (
        ({"maxDelayMillis": 100}, 101, False, "delay 101 ms: .* supports a delay of 0 to 100 ms"),
        ({}, 1, False, "delay 1 ms: the service at http://here supports no delay"),
        ({"maxDelayMillis": 100}, 100, True, "transport soap: the service at .* not support SOAP"),
    ):
        with pytest.raises(BadConfiguration, match=said):
            batches.require(cast(Service, Asked(settings)), delay_ms, is_soap=is_soap)
    batches.require(cast(Service, Asked({})), 0, is_soap=False)


def test_inputs_and_products_belong_together(tmp_path: Path) -> None:
    inputs, expected = batches.files(tmp_path, Shape(rows=2, inner=1, columns=2))
    for body, product in zip(
        *(json.loads(each.read_text()) for each in (inputs, expected)), strict=True
    ):
        left = [int(each["value"]) for each in body["matrixOne"]["rows"]]
        right = [int(each) for each in body["matrixTwo"]["rows"][0]["value"].split(",")]
        assert product == [[one * two for two in right] for one in left]


def test_products_that_were_cut_off_are_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was killed meanwhile went on with half of them, and every call failed."""
    inputs_and_folder = [None, None]
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "fsync", Mock(side_effect=[*inputs_and_folder, KeyboardInterrupt]))
        batches.files(tmp_path, Shape(rows=2, inner=1, columns=2))
    for each in batches.files(tmp_path, Shape(rows=2, inner=1, columns=2)):
        assert len(json.loads(each.read_text())) == batches.BODIES


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--threads", "0"], "--threads 0: async needs 1 to 1024 threads"),
        (["--threads", "1025"], "--threads 1025: async needs 1 to 1024 threads"),
        (["--strategy", "pipeline", "--threads", "3"], "--threads 3: pipeline needs 4 to 1024"),
        (["--strategy", "none"], "--strategy: 'none' is not a strategy of the java client: "),
        (["--strategy", ","], "--strategy: '' is not a strategy of"),
        (["--client", "python", "--compare", "pipeline"], "--strategy: 'pipeline' is not a"),
        (["--client", "perl"], "--client: 'perl' is not one of java, python"),
        (["--transport", "smtp"], "--transport: 'smtp' is not one of rest, soap"),
        (["--delay", "NaN"], "--delay 'NaN': give whole milliseconds"),
        (["--delay", "0.5ms"], "--delay '0.5ms': give whole milliseconds"),
        (["--delay", "-1s"], "--delay '-1s': give whole milliseconds"),
        (["--delay", "16.1s", "--attach", "here"], "--attach here: give http://HOST:PORT"),
        (["--delay", "2.01s", "--attach", "here"], "--attach here: give http://HOST:PORT"),
        (["--calls", "-1"], "--calls -1: must be from 0 to 1000000"),
        (["--resume", "/no/such"], "--resume /no/such: is not a log of calls: No such file"),
        (["--log", "/no/such/log"], "--log /no/such/log: cannot be written: No such file"),
        (["--attach", "host:8080"], "--attach host:8080: give http://HOST:PORT"),
        (["--compare", "task-pool", "--log", "x"], "--log, --resume: need a single strategy"),
    ],
)
def test_a_wrong_option_is_one_line(options: list[str], said: str) -> None:
    done = restbench("calls", *options)
    assert done.returncode == 2
    assert done.stderr.startswith(f"restbench: {said}")
    assert len(done.stderr.splitlines()) == 1


def test_a_wrong_product_weighs_more_than_a_call_that_failed() -> None:
    failed = RESULT.model_copy(update={"done": 2, "failed": {"TIMEOUT": 1}})
    command._judge([RESULT])
    with pytest.raises(CellsFailed, match="1 call failed"):
        command._judge([RESULT, failed])
    with pytest.raises(WrongAnswers, match="1 product was wrong"):
        command._judge([failed, RESULT.model_copy(update={"wrong": 1})])
    with pytest.raises(WrongAnswers, match="2 products were wrong in the warm-up"):
        command._judge([failed], 2)


@pytest.mark.parametrize(
    ("wrong", "kind", "said"), [(0, "failed", ""), (2, "wrong", "2 answers were wrong; ")]
)
def test_nor_does_a_call_that_failed_hide_a_wrong_answer_of_its_batch_in_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: int, kind: str, said: str
) -> None:
    level = "java-rest-task-pool-100ms"
    called = Cell(service="java", strategy="serial", complexity=level, users=2)
    table: Any = SimpleNamespace(made=lambda *_: 3)
    service = SimpleNamespace(service=SimpleNamespace(pids=tuple))
    up = SimpleNamespace(running=lambda _: service)
    order = SimpleNamespace(profile_name="p")
    here = block_of(tmp_path, order, [TrialGroup("all", (called,))], up=up)
    client: Any = SimpleNamespace(
        renew_if_dead=lambda: False,
        hello=lambda: SimpleNamespace(strategies=[BATCH.strategy]),
        batch=lambda _: SimpleNamespace(attempts=3, wrong=0),
    )
    driver = CallsDriver(here, table, {("java", "rest"): client}, tmp_path, 2)
    driver.single_calls["java", "rest"] = ALONE
    result = RESULT.model_copy(update={"failed": {"TIMEOUT": 1}, "wrong": wrong})
    monkeypatch.setattr(CallsDriver, "_batch", lambda *_: BATCH)
    monkeypatch.setattr(batches, "made", lambda *_: (result, LINES))
    monkeypatch.setattr(batches, "counted", lambda *given: sum(given[2:]))
    assert driver.trial(PlannedTrial(1, called)) is None
    (event,) = here.file.events()
    assert (event.kind, event.text) == (kind, f'{said}calls failed: {{"TIMEOUT": 1}}')


def test_wrong_answers_to_the_calls_of_a_warm_up_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client: Any = SimpleNamespace(
        name="java", batch=lambda _: RESULT.model_copy(update={"wrong": 1})
    )
    service: Any = SimpleNamespace(pids=tuple)
    monkeypatch.setattr(batches, "made", lambda it, batch: (it.batch(batch), LINES))
    found = batches.measure_single_call(client, service, BATCH, [BATCH.strategy], -1.0)
    assert found.wrong == 3, "the first call, one while it was warmed up, one of the calls alone"


def test_a_service_that_answers_no_call_is_told_after_one() -> None:
    asked: list[Batch] = []

    def batch(made: Batch) -> BatchResult:
        asked.append(made)
        return RESULT.model_copy(update={"done": 0, "failed": {"TIMEOUT": made.calls}})

    client: Any = SimpleNamespace(name="java", batch=batch)
    service: Any = SimpleNamespace(pids=tuple, base_url="http://here")
    with pytest.raises(EnvironmentProblem, match="http://here has not answered a call in 30 s"):
        batches.measure_single_call(client, service, BATCH, [BATCH.strategy], -1.0)
    assert [(each.strategy, each.calls) for each in asked] == [("sequential", 1)]


def test_a_client_that_is_not_told_how_many_threads_has_one_a_core_where_none_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "allowed_cores", lambda: (0, 1, 5))
    names = ("async", "adaptive", "task-pool", "pipeline")
    assert [command._threads(each, None) for each in names] == [3, 3, 8, 8]
    assert {command._threads(each, 5) for each in names} == {5}


def test_no_calls_are_nothing_to_do() -> None:
    done = restbench("calls", "--calls", "0")
    assert (done.returncode, done.stdout) == (0, "nothing to do\n")


@pytest.mark.parametrize("text", ["no log", '{"index": 1}\n', '{"other": 1}'])
def test_what_is_no_log_of_calls_is_not_resumed_and_stays_as_it_is(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    done = restbench("calls", "--resume", str(path))
    assert (done.returncode, path.read_text()) == (2, text)
    why = "a line does not describe a call"
    assert done.stderr == f"restbench: --resume {path}: is not a log of calls: {why}\n"


def test_only_calls_that_are_not_done_are_resumed(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    log.write_text("".join(f'{{"index": {n}, "outcome": "done"}}\n' for n in range(3)))
    done = restbench("calls", "--calls", "3", "--resume", str(log))
    assert (done.returncode, done.stdout) == (0, "nothing to do\n")


@pytest.mark.parametrize(
    ("strategy", "threads", "calls", "in_flight"),
    [
        ("task-pool", 200, 1000, 200),
        ("pipeline", 200, 1000, 200),
        ("task-pool", 8, 1000, 100),
        ("async", 200, 1000, 100),
        ("task-pool", 200, 20, 20),
    ],
)
def test_threads_that_wait_are_the_window_of_a_pool(
    strategy: str, threads: int, calls: int, in_flight: int
) -> None:
    """200 threads had 100 calls in flight, and were held against the best of 200."""
    work = CallWork("java", "rest", strategy, delay_ms=1000)
    made = batches.batch_of(SERVICE, "serial", work, threads, calls, (Path("in"), Path("out")))
    assert made.in_flight == in_flight
