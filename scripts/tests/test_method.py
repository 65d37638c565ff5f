"""The method's rules, one by one, on the real modules. Where a rule is tested at length elsewhere,
what stands here is the one thing that must not change about it."""

from __future__ import annotations

import itertools
from dataclasses import fields
from pathlib import Path

import pytest
from fixture_run import START, Made, build, cell, steady_load
from jtl_lines import Sample, error, wrong_answer

from restbench.analyse import comparison, measures
from restbench.analyse.measurement import Measurement
from restbench.analyse.measures import Row
from restbench.drive.window import window_over
from restbench.experiment import columns, statistics
from restbench.experiment.experiment import load
from restbench.experiment.plan import plan, service_group
from restbench.experiment.selection import Where
from restbench.judge import study
from restbench.judge.verdicts import verdict
from restbench.schedule import stopping
from restbench.store.store import experiment_file

SERIAL = cell("java serial low 10")
LOAD = steady_load(users=10, elapsed_ms=50)


def row_of(tmp_path: Path, *made: Made) -> Row:
    (row,) = measures.rows(build(tmp_path / "run", list(made)))
    return row


def blocks(tmp_path: Path, *elapsed_ms: int) -> Row:
    """A row with a block for each response time: 10 users, so 10 000 / time a second."""
    loads = [steady_load(users=10, elapsed_ms=each) for each in elapsed_ms]
    return row_of(tmp_path, *(Made(SERIAL, load, block=n) for n, load in enumerate(loads, start=1)))


def test_rule_1_an_interval_is_over_runs_and_what_is_within_a_run_is_labelled_so(
    tmp_path: Path,
) -> None:
    one = blocks(tmp_path / "one", 50)
    assert one.interval("throughput_per_s") is None
    assert one.value("batch_half_width_pct") is not None
    labels = {each.name: each for each in columns.COLUMNS}
    assert "WITHIN one run" in labels["batch_half_width_pct"].meaning
    several = blocks(tmp_path / "several", 50, 40, 50).interval("throughput_per_s")
    assert several is not None
    assert several == statistics.t_interval([200, 250, 200])


def test_rule_2_a_block_runs_every_cell_once_in_an_order_of_its_own_from_a_recorded_seed() -> None:
    thesis = load(experiment_file("thesis"))
    planned = plan(thesis, thesis.profile("full"), Where())
    by_block = {
        block: [each.cell for each in group]
        for block, group in itertools.groupby(planned, key=lambda each: each.block)
    }
    first, second = by_block[1], by_block[2]
    assert set(first) == set(second) == set(thesis.all_cells())
    assert len(first) == len(set(first))
    assert first != second
    assert planned == plan(thesis, thesis.profile("full"), Where()), "the same seed, the same order"
    groups = [key for key, _ in itertools.groupby(first, key=service_group)]
    assert len(groups) == len(set(groups)), "one fresh service process for each of them"


def test_rule_4_completions_count_by_their_end_and_errors_are_never_throughput(
    tmp_path: Path,
) -> None:
    samples = [
        *[Sample(START + n, 1_500) for n in range(40)],  # start before the window
        *[Sample(START + 2_000 + n, 1_500) for n in range(40)],  # end behind it
        *[error(START + n) for n in range(60)],
    ]
    row = row_of(tmp_path, Made(SERIAL, samples))
    assert row.value("throughput_per_s") == 40 / 2
    assert (row.value("samples"), row.value("errors")) == (40, 60)


def test_rule_4_a_window_grows_until_its_completions_suffice_or_its_cap(tmp_path: Path) -> None:
    full = load(experiment_file("thesis")).profile("full")
    assert window_over(full.window_min_s, full.enough_completions, full) == "enough"
    assert window_over(full.window_max_s - 1, full.enough_completions - 1, full) is None
    assert window_over(full.window_max_s, 30, full) == "capped"
    assert statistics.COMPLETIONS_NEEDED == {50: 30, 90: 300, 95: 1_000, 99: 10_000}
    assert row_of(tmp_path, Made(SERIAL, LOAD)).value("p95_ms") is None, "400 do not support it"


def test_rule_4_cpu_time_of_the_service_stands_beside_throughput(tmp_path: Path) -> None:
    row = row_of(tmp_path, Made(SERIAL, LOAD, service_cpu_ms=1_600))
    assert row.value("cpu_ms_per_request") == 1_600 / 400
    assert "cpu_ms_per_request" in study.STUDY_COLUMNS


def test_rule_5_one_wrong_answer_voids_every_number_but_the_counts(tmp_path: Path) -> None:
    samples = [*LOAD, wrong_answer(START - 900)]
    row = row_of(tmp_path, Made(SERIAL, LOAD), Made(SERIAL, samples, block=2))
    left = {name for name in columns.METRICS if row.value(name) is not None}
    assert left == set(measures.COUNTS)
    assert comparison.series(row, "throughput_per_s").void


def test_rule_6_the_stop_rule_asks_every_cell_for_a_half_width_of_g_over_1_plus_g(
    tmp_path: Path,
) -> None:
    row = blocks(tmp_path, 50, 49, 50)
    interval = row.interval("throughput_per_s")
    assert interval is not None
    reached = interval.half_width / interval.mean
    just = reached / (1 - reached)
    assert stopping.imprecise([row], just * 1.001) == []
    assert stopping.imprecise([row], just * 0.999) == [SERIAL.id]


def test_rule_6_one_block_decides_nothing(tmp_path: Path) -> None:
    fast = blocks(tmp_path / "fast", 25)
    slow = blocks(tmp_path / "slow", 50)
    one, two = (comparison.series(row, "throughput_per_s") for row in (fast, slow))
    found = comparison.paired(one, two)
    assert (verdict(found, "greater"), found.ratio) == ("too-imprecise", None)
    assert found.estimate == pytest.approx(2)


def test_rule_8_percentiles_are_exact_of_all_samples_of_a_run_then_averaged(tmp_path: Path) -> None:
    """The slow ones come first: whoever keeps only the last 20 000 does not know of them."""

    def run_of(slow_ms: int) -> list[Sample]:
        slow = [Sample(START + n % 500, slow_ms) for n in range(251)]
        return slow + [Sample(START + 500 + n % 1_500, 10) for n in range(24_749)]

    row = row_of(tmp_path, Made(SERIAL, run_of(400)), Made(SERIAL, run_of(800), block=2))
    assert [each.p99_ms for each in row.measurements] == [400, 800]
    assert row.value("p99_ms") == 600, "the mean over runs; pooled it would be 400"


def test_rule_9_closed_latency_says_that_it_is_closed(tmp_path: Path) -> None:
    run = build(tmp_path / "run", [Made(SERIAL, LOAD)])
    facts = study.facts(run, run.manifest(), measures.rows(run))
    assert "closed loop" in facts["Latency"]
    meanings = {each.name: each.meaning for each in columns.COLUMNS}
    assert "closed loop" in meanings["mean_ms"]


def test_every_column_of_the_table_is_a_number_of_a_measurement() -> None:
    assert set(columns.METRICS) <= {each.name for each in fields(Measurement)}
