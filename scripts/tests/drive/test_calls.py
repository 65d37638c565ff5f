"""Batches of calls: their levels, what has to be true of one, what is made of them, bad input."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import httpx
import pytest
from command_line import restbench
from drawn import data_of
from pydantic import ValidationError

from restbench.analyse import calls, estimates
from restbench.analyse.calls import OneCall
from restbench.analyse.measures import Row
from restbench.commands import calls as command
from restbench.deploy.service import Service
from restbench.drive import batches
from restbench.drive.batches import Alone
from restbench.drive.call_client import Batch, BatchResult, CallLine
from restbench.experiment import claim_file, experiment
from restbench.experiment.calls import CallWork, work_of
from restbench.experiment.cell import Cell, Shape
from restbench.failures import BadConfiguration, CellsFailed, WrongAnswers
from restbench.show import calls as shown
from restbench.show.charts import theme
from restbench.show.document import words
from restbench.store import store
from restbench.store.trials import Block, Event, Trial

FILE = store.experiment_file("calls")
STAGE = {"wall_s": 0.1, "cpu_s": 0.1}


def cell(level: str, threads: int) -> Cell:
    return Cell.model_validate(
        {"service": "java", "strategy": "serial", "complexity": level, "users": threads}
    )


def row(
    level: str,
    threads: int,
    elapsed_s: list[float],
    limit_s: float,
    events: tuple[str, ...] = (),
    *,
    more: Mapping[str, float] | None = None,
) -> Row:
    of = cell(level, threads)
    trials = [
        Trial(
            block,
            1,
            of.id,
            threads,
            0,
            seconds,
            estimates.np.array([100_000] * 10),
            extras={
                "elapsed_s": seconds,
                "limit_s": limit_s,
                "alone_s": 10.0,
                "in_flight": 1 / seconds,
                **(more or {}),
            },
        )
        for block, seconds in enumerate(elapsed_s, 1)
    ]
    blocks = [Block(number, "now", "later", {}) for number in range(1, len(elapsed_s) + 1)]
    noted = [Event("now", kind, "why", 1, of.id) for kind in events]
    found = estimates.measurements(trials, noted, blocks, cores=2)
    return Row(of, None, (), tuple(found[of.id]))


def test_a_level_says_client_transport_way_and_response_time() -> None:
    assert work_of("java-rest-task-pool-100ms") == CallWork("java", "rest", "task-pool", 100)
    expected = CallWork("java", "soap", "pipeline-async", 1000, 16)
    assert work_of("java-soap-pipeline-async-1000ms-of-16") == expected
    for wrong in (
        "java-rest-none-1ms",
        "python-rest-pipeline-1ms",
        "python-soap-async-1ms",
        "CG-A",
    ):
        with pytest.raises(ValueError, match="is no batch of calls"):
            work_of(wrong)


def test_calls_in_turn_are_scaled_but_for_one_block_of_the_long_profiles() -> None:
    table = experiment.load(FILE).calls
    assert table is not None
    in_turn, pool = work_of("java-rest-sequential-1000ms"), work_of("java-rest-task-pool-1000ms")
    assert [table.made("full", block, in_turn) for block in (1, 2)] == [100, 10]
    assert table.made("reference", 1, in_turn) == 10
    assert table.made("reference", 1, pool) == 100
    assert table.made("quick", 1, replace(in_turn, delay_ms=0)) == 2000
    assert table.made("full", 1, replace(in_turn, transport="soap")) == 10
    assert table.calls("full", work_of("java-rest-task-pool-1000ms-of-16")) == 16
    assert table.calls("quick", work_of("java-soap-document-0ms")) == 5


def test_a_pipeline_of_too_few_threads_is_refused() -> None:
    text = FILE.read_text().replace("users = [4, 5, 8, 16, 32, 64]", "users = [3, 4]")
    with pytest.raises(Exception, match="java-rest-pipeline-0ms' needs 4 to 1024 threads"):
        experiment.parse(text, Path("calls.toml"))


def test_every_side_of_a_claim_is_a_cell_of_the_experiment() -> None:
    known = set(experiment.load(FILE).all_cells())
    entries = claim_file.load(FILE.parent / "claims" / "calls.toml").claims
    assert {f"W{n}" for n in range(1, 10)} <= {each.id for each in entries}
    assert [each.id for each in entries for of in each.cells if of not in known] == []


def test_the_claims_that_the_shorter_profiles_can_decide_have_their_cells_there() -> None:
    definition = experiment.load(FILE)
    entries = claim_file.load(FILE.parent / "claims" / "calls.toml").claims
    decided = {"W1-W3-scaled", "W5-scaled", "W6", "W7", "W8", "W9"}
    for profile in ("quick", "reference"):
        measures = definition.profiles[profile].measures
        for claim in entries:
            parts = [part for part in claim.parts if part.decides and claim.id in decided]
            for part in parts:
                sides = [
                    side for each in part.questions() for side in (each.numerator, each.denominator)
                ]
                assert all(measures(of) for side in sides for of in side.cells), (profile, claim.id)


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
    threads={"call-pool": 2, "call-http": 2},
    stages=dict.fromkeys("SCDP", STAGE),
    compile_s=0,
    gc_s=0,
)
LINES = [CallLine(index=n, outcome="done", c_ms=100.5) for n in range(3)]


def test_a_batch_that_is_as_it_has_to_be_has_no_fault() -> None:
    threads = {"call-pool": 2}
    assert (
        batches.faults(BATCH, 100, RESULT.model_copy(update={"threads": threads}), LINES, 3) == []
    )


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
        ({"threads": {"call-cpu": 3}}, LINES, 3, "3 threads, 2 were asked for"),
    ],
)
def test_what_is_not_as_it_has_to_be_is_said(result, lines, served, said) -> None:
    found = RESULT.model_copy(update={"threads": {"call-pool": 2}, **result})
    faults = batches.faults(BATCH, 100, found, lines, served)
    assert len(faults) == 1
    assert faults[0].startswith(said)


def test_the_limit_counts_the_service_where_it_shares_the_cores_and_one_core_for_python() -> None:
    alone = Alone(OneCall(0.001, 0.001, 0, 0.001, 0.001), 0.004, 0.006, is_python=False)
    batch = replace(BATCH, strategy="async")
    assert batches.limit_s(batch, 100, 0, alone, 2, is_shared=True) == pytest.approx(0.5)
    assert batches.limit_s(batch, 100, 0, alone, 2, is_shared=False) == pytest.approx(0.2)
    python = replace(alone, is_python=True)
    assert batches.limit_s(batch, 100, 0, python, 2, is_shared=False) == pytest.approx(0.4)


def test_pipelines_are_given_the_teams_that_their_threads_make() -> None:
    for strategy, teams in (
        ("pipeline", (1, 5, 1, 1)),
        ("pipeline-async", (3, 4, 1)),
        ("async", None),
    ):
        made = batches.with_teams(replace(BATCH, strategy=strategy, threads=8))
        assert made.teams == teams


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
        ({"maxDelayMillis": 100}, 101, False, "delay 101 ms: .* takes a delay of 0 to 100 ms"),
        ({}, 1, False, "delay 1 ms: the service at http://here has no delay"),
        ({"maxDelayMillis": 100}, 100, True, "transport soap: the service at .* has no SOAP"),
    ):
        with pytest.raises(BadConfiguration, match=said):
            batches.require(cast(Service, Asked(settings)), delay_ms, is_soap=is_soap)
    batches.require(cast(Service, Asked({})), 0, is_soap=False)


def test_inputs_and_products_belong_together(tmp_path: Path) -> None:
    inputs, expected = batches.files(tmp_path, "small", Shape(rows=2, inner=1, columns=2))
    for body, product in zip(
        *(json.loads(each.read_text()) for each in (inputs, expected)), strict=True
    ):
        left = [int(each["value"]) for each in body["matrixOne"]["rows"]]
        right = [int(each) for each in body["matrixTwo"]["rows"][0]["value"].split(",")]
        assert product == [[one * two for two in right] for one in left]


ROWS = [
    row("java-rest-sequential-1000ms", 1, [100.0, 102.0], 100.0),
    row("java-rest-task-pool-1000ms", 8, [13.5, 13.2], 13.0),
    row("java-rest-async-1000ms", 8, [1.25, 1.3], 1.1),
    row("python-rest-async-1000ms", 1, [2.0, 2.5], 1.5),
]


def test_a_speed_up_is_over_calls_in_turn_of_the_same_client() -> None:
    assert calls.speed_ups(ROWS[1], ROWS) == pytest.approx([100 / 13.5, 102 / 13.2])
    assert calls.speed_ups(ROWS[1], ROWS, "limit_s") == pytest.approx([100 / 13, 102 / 13])
    assert calls.speed_ups(ROWS[3], ROWS) == [5.0, 4.0], "by what a call takes alone"
    assert calls.nearness(ROWS[2]) == pytest.approx((1.1 / 1.25 + 1.1 / 1.3) / 2)


def test_a_limit_that_was_mismeasured_is_noted_at_its_cell() -> None:
    early = row("java-rest-async-1000ms", 8, [1.0, 1.2], 1.1, ("limit-mismeasured",))
    (table,) = shown.tables([early])
    assert words(table.rows[0][-1]) == "limit-mismeasured 1/2"
    assert (early.measurements[0].reason, len(early.measured)) == (None, 2)


def test_calls_in_flight_are_no_users() -> None:
    assert [
        each.kind for each in ROWS[2].warnings if "flight" in each.kind or "little" in each.kind
    ] == []


def test_the_chart_has_the_limit_dashed_and_the_study_as_a_mark() -> None:
    charts = {each.name: each for each in shown.charts(ROWS) if each}
    assert set(charts) == {"calls-java-rest", "calls-python-rest"}
    text = json.dumps(theme.spec(charts["calls-java-rest"]))
    records = data_of(charts["calls-java-rest"])
    assert {(each["series"], each["limit"]) for each in records} == {
        ("task-pool", False),
        ("task-pool", True),
        ("async", False),
        ("async", True),
        ("study", False),
    }
    (study,) = [each for each in records if each["series"] == "study"]
    assert (study["x"], study["y"]) == (5, 5.5)
    assert '"strokeDash": [5, 4]' in text
    assert theme.svg(charts["calls-java-rest"]).startswith("<svg")


def test_rest_stands_next_to_soap_stage_by_stage() -> None:
    stages = {"s_ms": 0.5, "c_ms": 2.0, "d_ms": 0.25, "p_ms": 0.25}
    in_turn = [
        row(f"{program}-sequential-0ms", 1, [1.0, 1.1], 1.0, more=stages)
        for program in ("java-rest", "java-soap", "python-zeep")
    ]
    assert "calls-stages" not in {each.name for each in shown.charts(in_turn[:1]) if each}
    (chart,) = [each for each in shown.charts([*ROWS, *in_turn]) if each and "stages" in each.name]
    assert [(each["bar"], each["C"]) for each in data_of(chart)] == [
        ("Java rest: 3.00 ms", 2.0),
        ("Java soap: 3.00 ms", 2.0),
        ("Python zeep: 3.00 ms", 2.0),
    ]
    assert theme.svg(chart).startswith("<svg")


def test_the_tables_have_time_speed_up_limit_and_nearness() -> None:
    tables = shown.tables(ROWS)
    assert [each.caption for each in tables] == [
        "Java client, rest, 1000 ms",
        "Python client, rest, 1000 ms",
    ]
    assert shown.sentence(ROWS) == (
        "Calls at once are up to 79.2 times as fast as one after the other (Java async over REST, "
        "8 threads, 1000 ms); the median batch takes 1.16 times the least possible time, the "
        "slowest 1.48 times (Python async over REST, 1 thread, 1000 ms)."
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--threads", "0"], "--threads 0: async needs 1 to 1024 threads"),
        (["--threads", "1025"], "--threads 1025: async needs 1 to 1024 threads"),
        (["--strategy", "pipeline", "--threads", "3"], "--threads 3: pipeline needs 4 to 1024"),
        (["--strategy", "none"], "--strategy: 'none' is not one of the java client's: sequential"),
        (["--strategy", ","], "--strategy: '' is not one of"),
        (["--client", "python", "--compare", "pipeline"], "--strategy: 'pipeline' is not one of"),
        (["--client", "perl"], "--client: 'perl' is not one of java, python"),
        (["--transport", "smtp"], "--transport: 'smtp' is not one of rest, soap"),
        (["--delay", "NaN"], "--delay 'NaN': give whole milliseconds"),
        (["--delay", "0.5ms"], "--delay '0.5ms': give whole milliseconds"),
        (["--delay", "-1s"], "--delay '-1s': give whole milliseconds"),
        (["--calls", "-1"], "--calls -1: must be from 0 to 1000000"),
        (["--resume", "/no/such"], "--resume /no/such: no log of calls"),
        (["--compare", "task-pool", "--log", "x"], "--log, --resume: are of one strategy"),
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
    with pytest.raises(CellsFailed, match="1 calls failed"):
        command._judge([RESULT, failed])
    with pytest.raises(WrongAnswers, match="1 products were wrong"):
        command._judge([failed, RESULT.model_copy(update={"wrong": 1})])


def test_no_calls_are_nothing_to_do() -> None:
    done = restbench("calls", "--calls", "0")
    assert (done.returncode, done.stdout) == (0, "nothing to do\n")


def test_only_calls_that_are_not_done_are_resumed(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    log.write_text("".join(f'{{"index": {n}, "outcome": "done"}}\n' for n in range(3)))
    done = restbench("calls", "--calls", "3", "--resume", str(log))
    assert (done.returncode, done.stdout) == (0, "nothing to do\n")


def test_a_table_of_calls_needs_its_driver() -> None:
    text = FILE.read_text().replace('driver = "calls"', 'driver = "closed-load"')
    with pytest.raises((ValidationError, Exception), match="needs a table"):
        experiment.parse(text, Path("calls.toml"))


def test_the_study_s_gain_stands_next_to_that_of_the_limits_and_ours() -> None:
    pipeline = row("java-rest-pipeline-async-1000ms", 8, [1.25, 1.2], 1.04)
    table = shown.study([*ROWS, pipeline])
    assert table
    assert table.rows == (("java rest", "1000", "8", "1.10", "12.5", "10.9"),)
    assert shown.study(ROWS) is None
