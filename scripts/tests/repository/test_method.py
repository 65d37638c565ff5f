"""The method's rules, one by one, on the real modules. Where a rule is tested at length elsewhere,
what stands here is the one thing that must not change about it (rule 7: `test_verdicts`; rule 10:
`test_warnings`)."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fixture_run import START, Made, build, cell, row_of, steady_load, trial_of
from shown_run import page_of, part_of

from restbench import ROOT
from restbench.analyse import estimates, measures
from restbench.analyse.measurement import Measurement
from restbench.analyse.measures import Row
from restbench.experiment import columns, statistics
from restbench.experiment.experiment import load
from restbench.experiment.profile import LONG_BLOCKS, LONG_MINUTES
from restbench.experiment.records import LongWindow, Window
from restbench.judge import study
from restbench.machine import machine
from restbench.schedule.pace import Pace
from restbench.show import export
from restbench.show.kinds.study import Y_LABELS
from restbench.store.store import EXPERIMENTS, experiment_file
from restbench.store.trials import AGAIN, Trial
from restbench.store.writing import write_model

SERIAL = cell("java serial low 10")
LOAD = steady_load(users=10, elapsed_ms=50)


def blocks(tmp_path: Path, *elapsed_ms: int) -> Row:
    """A row with a block for each response time: 10 users, so 10 000 / time a second."""
    loads = [steady_load(users=10, elapsed_ms=each) for each in elapsed_ms]
    return row_of(tmp_path, *(Made(SERIAL, load, block=n) for n, load in enumerate(loads, start=1)))


def test_rule_1_an_interval_is_over_blocks_and_what_is_within_one_is_apart(tmp_path: Path) -> None:
    one = blocks(tmp_path / "one", 50)
    assert one.interval("throughput_per_s") is None
    several = blocks(tmp_path / "several", 50, 40, 50).interval("throughput_per_s")
    assert several is not None
    assert several == statistics.t_interval([200, 250, 200])
    trials = build(tmp_path / "run", [Made(SERIAL, LOAD)]).trials.trials()
    assert estimates.within_block_error(trials * 2) is None, "two trials say nothing of a spread"
    assert estimates.within_block_error(trials * 3) == 0


def test_rule_2_the_first_cell_of_a_group_is_measured_once_more_and_counts_apart(
    tmp_path: Path,
) -> None:
    run = build(tmp_path / "run", [Made(SERIAL, LOAD)])
    (trial,) = run.trials.trials()
    run.trials.add([replace(trial, arm=AGAIN, seconds=4.0)])
    (row,) = measures.rows(run)
    assert row.value("samples") == 400, "once"
    assert estimates.again_ratios(run.trials.rates()) == {SERIAL.id: [2.0]}
    (twice,) = export.again(run.trials.rates())
    assert (twice.cell, twice.ratio) == (SERIAL.id, 2.0)


def test_rule_3_of_a_response_over_five_seconds_the_mean_is_users_over_throughput(
    tmp_path: Path,
) -> None:
    row = row_of(tmp_path, Made(SERIAL, [6_000] * 3))  # in 2 s, by 10 users: R = 6.7 s
    assert row.value("mean_ms") is None
    assert row.value("littles_mean_ms") == pytest.approx(10 / 1.5 * 1_000)
    assert Pace(10 / 1.5).keep_s == 15


def of_60_users(completions: int, seconds: float) -> Measurement:
    """A block of one trial; each response takes users over throughput."""
    elapsed_us = np.full(completions, 60e6 * seconds / completions).astype(np.int64)
    return estimates.of_trials(1, [Trial(1, 1, "a cell", 60, 0, seconds, elapsed_us)], 2)


def test_rule_4_response_times_are_told_where_what_is_kept_holds_two_of_a_user() -> None:
    """A mean of 4 692 ms was once published where users over throughput were 9 305."""
    whole, short = of_60_users(120, 2.0), of_60_users(119, 2.0)
    assert (whole.mean_ms, whole.p50_ms) == (1_000, 1_000)
    assert (short.mean_ms, short.p50_ms) == (None, None)
    assert short.littles_mean_ms == pytest.approx(1_000, rel=0.01)


def test_rule_3_of_a_response_over_five_seconds_there_is_no_percentile() -> None:
    slow = of_60_users(600, 51.0)
    assert (slow.mean_ms, slow.p50_ms, slow.p90_ms) == (None, None, None)
    assert slow.littles_mean_ms == pytest.approx(5_100)
    assert of_60_users(600, 49.0).p90_ms == 4_900


def test_rule_4_errors_are_never_throughput(tmp_path: Path) -> None:
    row = row_of(tmp_path, Made(SERIAL, [1_500] * 40, errors=60))
    assert (row.value("throughput_per_s"), row.value("mean_ms")) == (40 / 2, 1_500)
    assert (row.value("samples"), row.value("errors"), row.flags) == (40, 60, ("errors",))


def test_rule_4_a_percentile_needs_its_completions(tmp_path: Path) -> None:
    assert statistics.COMPLETIONS_NEEDED == {50: 30, 90: 300, 95: 1_000, 99: 10_000}
    assert row_of(tmp_path, Made(SERIAL, LOAD)).value("p95_ms") is None, "400 do not support it"


def test_rule_4_cpu_time_of_the_service_stands_beside_throughput(tmp_path: Path) -> None:
    row = row_of(tmp_path, Made(SERIAL, LOAD, service_cpu_ms=1_600))
    assert row.value("cpu_ms_per_request") == 1_600 / 400
    assert "cpu_ms_per_request" in study.STUDY_COLUMNS


def test_rule_5_one_wrong_answer_voids_its_block_and_nothing_else(tmp_path: Path) -> None:
    wrong = Made(SERIAL, LOAD, wrong=1, block=2)
    alone = row_of(tmp_path / "alone", wrong)
    left = {name for name in columns.METRICS if alone.value(name) is not None}
    assert left == set(measures.COUNTS)
    assert alone.interval("throughput_per_s") is None
    assert (alone.value("samples"), alone.value("errors")) == (400, 0)
    both = row_of(tmp_path / "both", Made(SERIAL, LOAD), wrong)
    assert both.value("throughput_per_s") == 200
    assert both.value("wrong_answers") == 1
    assert "wrong-answers" in both.flags


FEWER_BLOCKS = {"adaptive": 3, "messages-trace": 1}
"""Reference profiles with fewer than five; rule 6 says why."""


def test_rule_6_a_reference_run_has_five_blocks_or_the_rule_says_why_not() -> None:
    found = {each.stem: load(each).profiles.get("reference") for each in EXPERIMENTS.glob("*.toml")}
    blocks = {name: profile.blocks for name, profile in found.items() if profile}
    assert "thesis" in blocks
    assert {name: each for name, each in blocks.items() if each < 5} == FEWER_BLOCKS
    rule = (ROOT / "docs" / "method.md").read_text().partition("### 6.")[2].partition("### 7.")[0]
    for name, number in FEWER_BLOCKS.items():
        assert f"`{name}` {number}" in rule


def test_rule_6_a_short_run_has_three_blocks() -> None:
    thesis = load(experiment_file("thesis"))
    assert thesis.profile("quick").blocks == 3
    long = thesis.profile("quick").lasting(LONG_MINUTES)
    assert long.blocks == LONG_BLOCKS
    assert long.most_blocks >= long.blocks


def test_rule_8_percentiles_are_exact_of_all_samples_of_a_block_then_averaged(
    tmp_path: Path,
) -> None:
    row = blocks(tmp_path, 50, 40)
    assert row.value("p50_ms") == (50 + 40) / 2
    assert row_of(tmp_path / "ranks", Made(SERIAL, range(1, 101))).value("p50_ms") == 50
    odd = row_of(tmp_path / "odd", Made(SERIAL, range(1, 102)))
    assert odd.value("p50_ms") == 51, "the nearest rank"


def test_rule_9_users_in_flight_stand_beside_the_users_there_are(tmp_path: Path) -> None:
    # 9 users of 10 send anything, one request after the other: 9 wait at any time.
    row = row_of(tmp_path, Made(SERIAL, steady_load(users=9, elapsed_ms=50)))
    assert row.record()["users_in_flight"] == pytest.approx(9)


def test_rule_9_users_in_flight_are_x_r_over_trials_of_any_length() -> None:
    short = trial_of(Made(SERIAL, steady_load(users=9, elapsed_ms=50)))  # 2 s
    longer = replace(short, seconds=8.0)  # its 9 users waited for a quarter of the time
    (found,) = estimates.measurements([short, longer], [], [], 2)[SERIAL.id]
    assert found.users_in_flight == pytest.approx(9 * (2 + 2) / (2 + 8))
    assert found.users_in_flight == pytest.approx(
        found.throughput_per_s * found.mean_ms / 1000  # type: ignore[operator]
    )


def test_rule_9_response_times_are_labelled_as_those_of_a_closed_loop(tmp_path: Path) -> None:
    meanings = {each.heading: each.meaning for each in columns.COLUMNS}
    assert all("losed loop" in meanings[columns.HEADINGS[name]] for name in ("mean_ms", "p50_ms"))
    later = {meanings[columns.HEADINGS[f"p{percent}_ms"]][:8] for percent in (90, 95, 99)}
    assert later == {"The same"}
    assert "(closed loop)" in Y_LABELS["mean_ms"]
    told = page_of(build(tmp_path / "run", [Made(SERIAL, LOAD)]))
    assert "closed loop: a user sends its next request only after the answer" in told


def test_rule_11_microseconds_of_the_generator_are_kept(tmp_path: Path) -> None:
    assert row_of(tmp_path, Made(SERIAL, [1.234] * 100)).value("mean_ms") == pytest.approx(1.234)


@pytest.mark.parametrize(("times", "is_another"), [(1.7, False), (1.9, True), (1 / 1.9, True)])
def test_rule_12_machines_of_one_model_are_told_apart_by_their_speed(
    times: float, is_another: bool
) -> None:
    speed = {"integer_loops_per_s": 1_000.0, "copied_gib_per_s": 10.0}
    model = {"processor": "A processor", "cores_online": 2, "memory_mib": 24_064}
    one, two = (
        {**model, "speed": each}
        for each in (speed, {**speed, "integer_loops_per_s": 1_000 * times})
    )
    found = machine.identity_differences(machine.identity(one), machine.identity(two))
    assert found == (["integer_loops_per_s"] if is_another else [])


def test_rule_13_the_studys_tables_have_long_windows_and_a_short_run_three() -> None:
    thesis = load(experiment_file("thesis"))
    in_tables = {each for each in thesis.all_cells() if thesis.test_ids(each)}
    windows = {
        name: {each for each in thesis.all_cells() if thesis.profile(name).has_window(each)}
        for name in ("quick", "reference")
    }
    assert windows["reference"] == in_tables and len(in_tables) == 27
    assert {each.complexity for each in windows["quick"]} == {"low", "medium", "high"}
    assert len(windows["quick"]) == 3
    assert all(thesis.profile(each).window_s == 10 for each in windows)


def test_rule_13_a_long_window_is_held_against_the_trials_of_its_cell(tmp_path: Path) -> None:
    """Trials have 200 to 250 requests a second; the window has first 220, then 20."""
    loads = enumerate((LOAD, steady_load(users=10, elapsed_ms=40), LOAD), start=1)
    run = build(tmp_path / "run", [Made(SERIAL, load, block=n) for n, load in loads])
    folder = run.window(SERIAL.id)
    span = Window(start_ms=START, end_ms=START + 1_000)
    write_model(folder.window_record, LongWindow(window=span, service_pids=()))
    for count, said in ((220, "0 of 1 windows"), (20, "1 of 1 windows")):
        sent_ms = [START + 1_000 * n // count for n in range(count)]
        lines = ["timeStamp,elapsed,success", *(f"{each},0,true" for each in sent_ms)]
        folder.samples.write_text("\n".join(lines) + "\n")
        text = part_of(page_of(run), "observed")
        assert f"{said} have a throughput outside the 95 % interval" in text
        assert (f"cell's trials: {SERIAL.id}." in text.replace("&#39;", "'")) == (count == 20)


def test_rule_14_a_run_says_that_other_hours_may_differ_by_more(tmp_path: Path) -> None:
    made = [Made(SERIAL, LOAD, block=number) for number in (1, 2, 3)]
    run = build(tmp_path / "run", made)
    told = study.blocks_line(3, measures.rows(run))
    assert told.startswith("3; ±") and "at other times results may differ by more" in told


def test_each_rule_of_the_method_has_a_test_of_its_name() -> None:
    rules = re.findall(r"^### (\d+)\. ", (ROOT / "docs" / "method.md").read_text(), re.MULTILINE)
    tests = (path.read_text() for path in (ROOT / "scripts" / "tests").glob("*/test_*.py"))
    named = re.findall(r"^def test_rule_(\d+)_", "\n".join(tests), re.MULTILINE)
    assert len(rules) == 14
    assert {*named} == {*rules}


def test_every_column_of_the_table_is_a_number_of_a_measurement() -> None:
    block = Measurement(block=1, flags=())
    assert all(hasattr(block, name) for name in columns.METRICS)
