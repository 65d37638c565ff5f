"""The method's rules 10 to 12 on whole runs: warnings, notes, and what stands next to a number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fixture_run import Made, build, steady_load
from test_method import LOAD, SERIAL, row_of

from restbench.analyse import measures
from restbench.experiment.records import Before, CellRun
from restbench.store.store import Run, read_model
from restbench.store.writing import write_model


def test_rule_10_a_marked_cell_is_kept_in_its_row_with_its_mark(tmp_path: Path) -> None:
    made = Made(SERIAL, LOAD, service_requests=9_999)
    row = row_of(tmp_path, made)
    (only,) = row.warnings
    assert only.kind == row.record()["flags"] == "count-mismatch"
    assert row.value("throughput_per_s") == 200


def test_rule_10_a_service_on_a_core_that_it_was_not_given_is_marked(tmp_path: Path) -> None:
    run = build(tmp_path / "run", [Made(SERIAL, LOAD)])
    _change(run, service_cores=(0,))  # pidstat's fixture ran on core 1
    (only,) = measures.rows(run)[0].warnings
    assert (only.kind, only.bias_percent) == ("off-cores", pytest.approx(100))


def test_rule_10_answers_of_another_size_are_marked(tmp_path: Path) -> None:
    run = build(tmp_path / "run", [Made(SERIAL, LOAD)])
    samples = run.cell(1, SERIAL.id).samples
    head, _, last = samples.read_text().rstrip("\n").rpartition("\n")
    samples.write_text(f"{head.replace(',59,181,', ',159,181,', 500)}\n{last}\n")
    assert measures.rows(run)[0].flags == ("bytes-vary",)


def test_rule_10_a_warm_up_shorter_than_planned_is_marked(tmp_path: Path) -> None:
    run = build(tmp_path / "run", [Made(SERIAL, LOAD)])
    _change(run, warmup_s=3.0)
    assert measures.rows(run)[0].flags == ("duration",)


def test_rule_11_under_ten_milliseconds_the_mean_stands_also_as_users_over_throughput(
    tmp_path: Path,
) -> None:
    row = row_of(tmp_path, Made(SERIAL, steady_load(users=10, elapsed_ms=4)))
    assert row.flags == ("coarse-clock",)
    assert row.value("littles_mean_ms") == pytest.approx(4)
    assert row.value("compute_ms") == 2
    assert row.value("network_ms") == pytest.approx(4 - 3.75)


def test_rule_12_resources_are_cut_to_the_window(tmp_path: Path) -> None:
    row = row_of(tmp_path, Made(SERIAL, LOAD))
    assert row.value("machine_cpu_pct") == pytest.approx((50.25 + 50.5) / 2)
    told = row.measurements[0].service_metrics
    assert told is not None
    assert (told.heap_peak_mib, told.gc_pause_ms) == (14 + 5, pytest.approx(30))


@pytest.mark.parametrize(("foreign_pct", "flags"), [(5.0, ()), (5.1, ("foreign-load-before",))])
def test_rule_12_load_of_others_before_the_run_marks_it(
    tmp_path: Path, foreign_pct: float, flags: tuple[str, ...]
) -> None:
    run = build(tmp_path / "run", [Made(SERIAL, LOAD)])
    _change(run, before=Before(foreign_pct=foreign_pct, load1=0.3))
    assert measures.rows(run)[0].flags == flags


def test_rule_12_steal_in_the_window_marks_it(tmp_path: Path) -> None:
    run = build(tmp_path / "run", [Made(SERIAL, LOAD)])
    sar = run.cell(1, SERIAL.id).sar_json
    recorded = json.loads(sar.read_text())
    for sample in recorded["sysstat"]["hosts"][0]["statistics"]:
        sample["cpu-load"][0]["steal"] = 5.0
    sar.write_text(json.dumps(recorded))
    found = {each.kind: each.bias_percent for each in measures.rows(run)[0].warnings}
    assert found["steal"] == pytest.approx(100 * 5 / 95)


def _change(run: Run, **found: object) -> None:
    record = run.cell(1, SERIAL.id).record
    write_model(record, read_model(record, CellRun).model_copy(update=found))
