"""Every expected value is computed by hand from the response times that are laid down."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixture_run import Made, build, cell, row_of, steady_load

from restbench.analyse import estimates, measures
from restbench.analyse import exported as entries
from restbench.analyse.comparison import series
from restbench.analyse.measurement import KindMeasurement, Measurement
from restbench.analyse.measures import Row
from restbench.analyse.warnings import explain
from restbench.experiment import columns
from restbench.experiment.cell import Kind, Shape
from restbench.store.trials import Event, Trial

SERIAL = cell("java serial low 10")
#: 9 users at 50 ms end 40 times each in 2 s, one at 100 ms ends 20 times: 380 in all.
LOAD = steady_load(users=10, elapsed_ms=50, slow_user_ms=100)


def test_a_row_has_the_columns_of_the_study_in_their_order(tmp_path: Path) -> None:
    record = row_of(tmp_path, Made(SERIAL, LOAD)).record()
    assert ",".join(record) == (
        "test_id,service,strategy,placement,front,complexity,users,kernel,throughput_per_s,mean_ms,"
        "p50_ms,p90_ms,p95_ms,p99_ms,littles_mean_ms,batch_half_width_pct,samples,errors,"
        "wrong_answers,cpu_ms_per_request,service_cpu_pct,load_cpu_pct,machine_cpu_pct,memory_mib,"
        "queue_ms,parse_ms,compute_ms,serialize_ms,network_ms,users_in_flight,generator_share,"
        "predicted_per_s,flags,build,framework,handoff,workers,connection,instances,link,"
        "technique,pool_threads,connections,postgres,settings,delay_ms"
    )
    assert tuple(record) == columns.NAMES
    assert list(record.values())[:8] == [
        "T-A01 T-D01",
        "java",
        "serial",
        "unbound",
        "none",
        "low",
        10,
        "loops",
    ]


def test_a_cells_numbers_are_those_computed_by_hand(tmp_path: Path) -> None:
    record = row_of(tmp_path, Made(SERIAL, LOAD, service_cpu_ms=1_900.0)).record()
    assert record["throughput_per_s"] == 190  # 380 completions in 2 s
    assert record["mean_ms"] == pytest.approx((360 * 50 + 20 * 100) / 380)
    assert (record["p50_ms"], record["p90_ms"]) == (50, 50)
    assert (record["p95_ms"], record["p99_ms"]) == (None, None)  # 380 support neither
    assert (record["samples"], record["errors"], record["wrong_answers"]) == (380, 0, 0)
    assert record["cpu_ms_per_request"] == pytest.approx(1_900 / 380)
    assert record["service_cpu_pct"] == pytest.approx(95)  # 1 900 ms of 2 000 ms, of one core
    assert record["load_cpu_pct"] == pytest.approx(5)
    assert record["machine_cpu_pct"] == pytest.approx(51.5)  # 2 060 ms of 2 s on two cores
    assert record["memory_mib"] == 100
    stages = [record[f"{stage}_ms"] for stage in ("queue", "parse", "compute", "serialize")]
    assert stages == pytest.approx([0.5, 1, 2, 0.25])
    assert record["network_ms"] == pytest.approx((360 * 50 + 20 * 100) / 380 - 3.75)
    assert record["littles_mean_ms"] == pytest.approx(1_000 * 10 / 190)
    assert record["flags"] == ""


def test_what_made_a_block_void_is_its_reason_not_a_request_that_failed_before(
    tmp_path: Path,
) -> None:
    run = build(tmp_path / "run", [Made(SERIAL, LOAD, wrong=1)])
    for kind, text in (("errors", "status 503"), ("wrong", "R1 2")):
        run.trials.note(Event("2026-11-21T01:51:00", kind, text, 1, SERIAL.id))
    (row,) = measures.rows(run)
    assert [each.reason for each in row.measurements] == ["R1 2"]
    assert row.blocks_with("errors") == row.blocks_with("wrong-answers") == 1


def test_the_slowest_percent_is_in_mean_and_p99(tmp_path: Path) -> None:
    record = row_of(tmp_path, Made(SERIAL, [10] * 9_899 + [1_000] * 101)).record()
    assert record["p99_ms"] == 1_000
    assert record["p95_ms"] == 10
    assert record["mean_ms"] == pytest.approx((9_899 * 10 + 101 * 1_000) / 10_000)


def test_several_blocks_are_averaged_and_have_an_interval(tmp_path: Path) -> None:
    faster = steady_load(users=10, elapsed_ms=40)  # 500 completions: 250/s
    two = [Made(SERIAL, LOAD), Made(SERIAL, faster, block=2)]
    row = row_of(tmp_path, *two, Made(SERIAL, LOAD, block=3))
    assert row.value("throughput_per_s") == pytest.approx((190 + 250 + 190) / 3)
    assert row.value("samples") == 380 + 500 + 380, "counts are summed"
    interval = row.interval("throughput_per_s")
    assert interval is not None
    # s = 60/sqrt3, half-width = t[.975;2] s / sqrt3 = 4.302653 x 20
    assert interval.half_width == pytest.approx(4.30265273 * 20, rel=1e-6)
    of_two = row_of(tmp_path / "two", *two)
    assert of_two.value("throughput_per_s") == pytest.approx((190 + 250) / 2)
    assert of_two.interval("throughput_per_s") is None, "the t quantile would be 12.7"


def test_a_block_that_was_cut_short_counts_only_where_there_is_no_whole_one(
    tmp_path: Path,
) -> None:
    """A tenth of a second of a killed run weighed as much as a whole block."""
    blocks = [Made(SERIAL, LOAD, block=number) for number in (1, 2, 3)]
    run = build(tmp_path / "run", [*blocks, Made(SERIAL, LOAD[:20], block=4)])
    file = run.trials
    events = [Event("now", "wrong", "in the midst of it", 4, SERIAL.id)]

    def counted(*finished: int) -> list[int]:
        known = [
            each if each.block in finished else replace(each, finished=None)
            for each in file.blocks()
        ]
        found = estimates.measurements(file.trials(), events, known, cores=2)
        return [each.block for each in found[SERIAL.id]]

    assert counted(1, 2, 3, 4) == [1, 2, 3, 4]
    assert counted(1, 2, 3) == [1, 2, 3]
    assert counted() == [1, 2, 3, 4], "an interrupted first block is shown"


def test_a_percentile_that_one_block_does_not_support_is_not_shown(tmp_path: Path) -> None:
    few = steady_load(users=10, elapsed_ms=100)  # 200 completions: no p90
    row = row_of(tmp_path, Made(SERIAL, LOAD), Made(SERIAL, few, block=2))
    assert row.value("p90_ms") is None
    assert row.value("p50_ms") == 75


def test_a_failed_block_is_said_and_leaves_the_others(tmp_path: Path) -> None:
    failed = Made(SERIAL, block=2, failed="the service died")
    row = row_of(tmp_path, Made(SERIAL, LOAD), failed)
    assert row.value("throughput_per_s") == 190
    assert row.flags == ("failed",)
    assert [each.reason for each in row.measurements] == [None, "the service died"]


def test_what_was_not_reached_is_a_row_without_numbers(tmp_path: Path) -> None:
    run = build(tmp_path / "run", [Made(SERIAL, LOAD)], unmeasured=(cell("java pinned low 10"),))
    rows = measures.rows(run)
    assert [row.flags for row in rows] == [(), ("not-measured",)]
    assert rows[1].value("samples") is None


def test_a_cell_that_another_block_had_time_for_is_measured(tmp_path: Path) -> None:
    row = row_of(tmp_path, Made(SERIAL, LOAD))
    (measured,) = row.measurements
    missed = measured.model_copy(update={"block": 2, "seconds": 0.0, "flags": ("not-measured",)})
    assert replace(row, measurements=(missed,)).flags == ("not-measured",)
    assert replace(row, measurements=(measured, missed)).flags == ()


def test_the_note_of_a_cell_without_time_is_its_reason_on_the_page_and_in_run_json(
    tmp_path: Path,
) -> None:
    row = row_of(tmp_path, Made(SERIAL, LOAD))
    why = "one answer to each of its users takes 92 s; the cell needs 3.5 minutes of a block"
    missed = Measurement(block=1, flags=("not-measured",), reason=why)
    late = replace(row, measurements=(missed,))
    assert [each.text for each in late.notes] == [why]
    assert entries.cell_entry(late).notes == late.notes
    (never,) = replace(row, measurements=()).notes
    assert never.text == explain("not-measured"), "no block began"


MIX = tuple(
    Kind(name=name, share=share, shape=Shape(rows=1, inner=1, columns=1))
    for name, share in (("low", 0.95), ("huge", 0.05))
)


@pytest.mark.parametrize(
    ("low", "huge", "is_other"),
    [
        pytest.param(950, 50, False, id="as planned"),
        pytest.param(2429, 2, True, id="the large ones did not end"),
        pytest.param(963, 75, True, id="too many large ones"),
        pytest.param(172, 4, False, id="so few that it may be chance"),
        pytest.param(951_000, 49_000, False, id="no chance, and within the margin"),
        pytest.param(0, 0, False, id="none"),
    ],
)
def test_rule_4_what_is_completed_of_another_mix_has_nothing_but_its_counts(
    low: int, huge: int, is_other: bool
) -> None:
    """60 users had 550 requests/s, as the large ones ended after the trials, and 10 users 395."""
    kinds = {"low": KindMeasurement(completions=low), "huge": KindMeasurement(completions=huge)}
    block = Measurement(
        block=1, seconds=1.0, completions=low + huge, throughput_per_s=9.0, mean_ms=4.0, kinds=kinds
    )
    row = Row(cell("java serial mix 60"), None, (), (block,), MIX)
    assert row.value("samples") == low + huge
    assert row.flags == (("other-mix",) if is_other else ())
    assert (row.value("throughput_per_s"), row.value("mean_ms")) == (
        (None, None) if is_other else (9.0, 4.0)
    )
    lacking = "java-serial-unbound-mix-60u completed requests of another mix than the planned one"
    assert series(row, "throughput_per_s").lack == (lacking if is_other else None)
    assert series(row, "throughput_per_s", "low").lack == (lacking if is_other else None)
    assert replace(row, mix=()).flags == (), "no shares are planned"


def test_rule_4_response_times_of_a_kind_need_trials_that_hold_two_of_its_own() -> None:
    def of(huge_s: float) -> Measurement:
        kinds = {"low": np.full(1_000, 5_000), "huge": np.full(40, int(1e6 * huge_s))}
        every = np.sort(np.concatenate([*kinds.values()]))
        return estimates.of_trials(1, [Trial(1, 1, "a cell", 60, 0, 2.0, every, kinds_us=kinds)], 2)

    held, cut = of(0.9), of(1.1)
    assert (held.kinds["huge"].mean_ms, held.mean_ms) == (900, pytest.approx(39.4, rel=0.01))
    assert (cut.kinds["huge"].mean_ms, cut.kinds["huge"].p50_ms, cut.mean_ms) == (None, None, None)
    assert (cut.kinds["huge"].completions, cut.kinds["low"].p50_ms) == (40, 5)


def test_a_wrong_answer_before_the_trials_or_without_any_is_counted(tmp_path: Path) -> None:
    """The page reported 0 WRONG."""
    run = build(tmp_path / "run", [Made(SERIAL, LOAD), Made(SERIAL, block=2, failed="why")])
    for block in (1, 2):
        run.trials.note(Event("now", "wrong", "before the first trial", block, SERIAL.id))
    (row,) = measures.rows(run)
    assert [each.wrong_answers for each in row.measurements] == [1, 1]
    assert (row.value("wrong_answers"), row.value("samples")) == (2, 380)


def test_rows_come_in_the_order_of_the_experiment(tmp_path: Path) -> None:
    shuffled = ["python process-per-request low 10", "java pinned low 10", "java serial low 10"]
    run = build(tmp_path / "run", [Made(cell(text), LOAD) for text in shuffled])
    assert [row.cell for row in measures.rows(run)] == [cell(text) for text in shuffled[::-1]]


def test_few_completions_have_a_throughput_and_nothing_else(tmp_path: Path) -> None:
    made = Made(SERIAL, steady_load(users=10, elapsed_ms=1_000))  # 20 completions
    row = row_of(tmp_path, made)
    assert row.value("p50_ms") is None
    assert row.value("throughput_per_s") == 10


def test_a_cell_without_any_correct_response_has_no_latency(tmp_path: Path) -> None:
    row = row_of(tmp_path, Made(SERIAL, errors=200))
    assert row.value("throughput_per_s") == 0
    assert row.value("mean_ms") is None
    assert row.value("cpu_ms_per_request") is None
    assert row.flags == ("errors",)


def test_what_went_to_neither_side_is_foreign_and_the_rest_is_shared_out(tmp_path: Path) -> None:
    # The machine worked 2 060 ms of 2 s on two cores; 1 200 + 100 are known: 760 of 4 000 are not.
    row = row_of(tmp_path, Made(SERIAL, LOAD, service_cpu_ms=1_200.0))
    (block,) = row.measurements
    assert block.foreign_pct == pytest.approx(19)
    assert block.steal_pct == 0
    assert block.generator_share == pytest.approx(100 / 1_300)


def two_trials(**changes: tuple[Any, Any]) -> Measurement:
    """Of 30 and 10 responses, a second each, on two cores."""
    made = []
    for number, completions in enumerate((30, 10)):
        one = Trial(1, number + 1, SERIAL.id, 10, 0, 1.0, np.full(completions, 50_000))
        own = {"service_cpu_ms": 600.0, "generator_cpu_ms": 100.0, "busy_ms": 900.0}
        made.append(replace(one, **own, **{name: of[number] for name, of in changes.items()}))
    return estimates.of_trials(1, made, 2)


def test_what_a_database_did_for_the_service_is_not_foreign() -> None:
    assert two_trials().foreign_pct == pytest.approx(100 * 400 / 4_000)
    beside = two_trials(extras=({"database_busy_ms": 150.0}, {"database_busy_ms": 50.0}))
    assert beside.foreign_pct == pytest.approx(100 * 200 / 4_000)


def test_a_stage_is_the_mean_over_requests_not_over_trials() -> None:
    found = two_trials(stages_ms=({"compute": 1.0}, {"compute": 5.0}))
    assert found.compute_ms == pytest.approx((30 * 1 + 10 * 5) / 40)


def test_the_throughput_that_both_cpu_times_allow_stands_beside_the_measured_one(
    tmp_path: Path,
) -> None:
    # 380 requests of 5 ms in the service; 60 ms of other work and 100 of the generator in 2 s.
    record = row_of(tmp_path, Made(SERIAL, LOAD, service_cpu_ms=1_900.0)).record()
    assert record["generator_share"] == pytest.approx(100 / 2_000)
    assert record["predicted_per_s"] == pytest.approx(2 / ((1.9 + 0.1) / 380))
    attached = row_of(tmp_path / "attached", Made(SERIAL, LOAD, service_cpu_ms=None)).record()
    assert attached["predicted_per_s"] is None


def test_an_attached_service_has_no_cpu_figures(tmp_path: Path) -> None:
    row = row_of(tmp_path, Made(SERIAL, LOAD, service_cpu_ms=None))
    assert row.value("service_cpu_pct") is None
    assert row.value("cpu_ms_per_request") is None
    assert row.measurements[0].generator_share is None


def test_what_failed_says_more_than_a_limit_that_is_not_known() -> None:
    told = [Event("now", kind, f"why {kind}", 1, SERIAL.id) for kind in ("no-limit", "failed")]
    (found,) = estimates.measurements([], told, [], cores=2)[SERIAL.id]
    assert found.reason == "why failed"
