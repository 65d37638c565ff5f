"""A calibration must fail where the measuring chain is wrong: each check is broken on purpose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from restbench.analyse import comparison
from restbench.analyse.measures import Measurement
from restbench.calibrate import ceiling, latency, same_cell, stall
from restbench.calibrate import machine_at_rest as quiet
from restbench.calibrate.calibrate import record
from restbench.cli import app
from restbench.commands import calibrate as command
from restbench.experiment.records import Calibration, CalibrationCheck, Window
from restbench.judge import verdicts
from restbench.machine import machine
from restbench.store import calibration
from restbench.store.store import Run
from restbench.store.writing import write_json

# --- known latency ------------------------------------------------------------------------------


@pytest.mark.parametrize("point", latency.POINTS[:2])
def test_a_chain_that_adds_2_ms_fails(point: latency.Point) -> None:
    off = latency.Found(point, 5_000, point.delay_ms + 2, point.delay_ms + 2)
    right = latency.Found(point, 5_000, point.delay_ms, point.delay_ms + 1)
    assert latency.judge([right]).passed
    assert not latency.judge([right, off]).passed


def test_a_p99_below_the_delay_fails() -> None:
    assert not latency.judge([latency.Found(latency.POINTS[1], 5_000, 50, 40)]).passed


def test_a_p99_of_too_few_responses_shows_nothing_and_fails() -> None:
    check = latency.judge([latency.Found(latency.POINTS[1], 999, 50, None)])
    assert not check.passed
    assert "p99 not known (999 responses)" in check.measured


# --- generator ceiling --------------------------------------------------------------------------


def test_the_ceiling_is_the_highest_load_and_must_be_five_times_the_fastest_cell() -> None:
    loads = [
        ceiling.Load("http-sampler", 10, 4_000, 20, 90),
        ceiling.Load("http-sampler", 30, 5_000, 25, 95),
        ceiling.Load("streaming", 10, 9_000, 40, 90),
        ceiling.Load("streaming", 30, 8_000, 40, 95),
    ]
    assert ceiling.judge(loads, fastest_per_s=1_000).passed
    check = ceiling.judge(loads, fastest_per_s=1_001)
    assert not check.passed
    assert check.values["ceiling_per_s"] == 5_000
    assert "above 1000/s are marked generator-bound" in check.measured
    assert "the stub used 25 % of a core" in check.measured
    assert check.values["streaming_ceiling_per_s"] == 9_000
    assert "The streaming sampler sends 9000/s: above 1800/s" in check.measured


# --- A/A ----------------------------------------------------------------------------------------


def pairs_of(values: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> list[same_cell.Pair]:
    window = Window(start_ms=0, end_ms=1_000, ended="enough")
    return [
        (
            Measurement(block=0, flags=(), window=window, throughput_per_s=float(first)),
            Measurement(block=0, flags=(), window=window, throughput_per_s=float(second)),
        )
        for first, second in values
    ]


def noise(spread: float, seed: int = 1) -> list[same_cell.Pair]:
    return pairs_of(np.random.default_rng(seed).normal(1_000, 1_000 * spread, size=(8, 2)))


@pytest.mark.parametrize("spread", [0.005, 0.01, 0.02])
def test_noise_is_not_called_a_difference(spread: float) -> None:
    assert same_cell.judge(noise(spread), trials=300).passed


def test_a_noisy_machine_is_said_to_be_one_where_the_share_is_too_large() -> None:
    shares = [same_cell.judge(noise(0.2, seed), trials=100) for seed in range(8)]
    failed = [each for each in shares if not each.passed]
    assert failed
    assert all("fails in about 4 of 10" in each.measured for each in failed)
    assert max(each.values["different_share"] for each in shares) < 0.2


def test_a_comparison_that_takes_every_difference_for_real_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def naive(found: comparison.Comparison, expect: str) -> float:
        ratio = found.estimate or 1.0
        return 0.0 if (ratio > 1.01 if expect == "greater" else ratio < 0.99) else 1.0

    monkeypatch.setattr(verdicts, "p_holds", naive)
    check = same_cell.judge(noise(0.05), trials=300)
    assert not check.passed
    assert check.values["different_share"] > 0.3


# --- stall --------------------------------------------------------------------------------------


def test_a_closed_load_shows_a_stall_in_its_slowest_response_only() -> None:
    assert stall.judge_closed(stall.Closed(p99_ms=22, slowest_ms=2_010, touched=10)).passed


@pytest.mark.parametrize(
    "wrong",
    [
        stall.Closed(p99_ms=22, slowest_ms=40, touched=0),  # the slowest were dropped
        stall.Closed(p99_ms=2_000, slowest_ms=2_010, touched=500),  # that was no closed load
        stall.Closed(p99_ms=22, slowest_ms=900, touched=10),  # another stall than the stub's
    ],
)
def test_a_closed_load_that_shows_a_stall_otherwise_fails(wrong: stall.Closed) -> None:
    assert not stall.judge_closed(wrong).passed


def test_an_open_load_must_show_a_stall_at_its_analytic_size() -> None:
    """A stall of 2 s in a window of 8 s: one arrival in four waits, evenly from 0 to 2 s."""
    shown = {75.0: 20.0, 90.0: 1_220.0, 99.0: 1_940.0, 100.0: 2_020.0}
    assert {each: stall.Stall().expected_ms(each) for each in shown} == pytest.approx(shown)
    assert stall.judge_opened(shown).passed


@pytest.mark.parametrize(
    "wrong",
    [
        {90.0: 22.0, 99.0: 25.0, 100.0: 2_020.0},  # counted from the moment of sending
        {90.0: 1_220.0, 99.0: 1_600.0, 100.0: 1_700.0},  # the slowest were dropped
        {90.0: 1_220.0, 99.0: 1_940.0, 100.0: float("inf")},  # one got no answer
    ],
)
def test_an_open_load_that_shows_a_stall_otherwise_fails(wrong: dict[float, float]) -> None:
    assert not stall.judge_opened(wrong).passed


# --- the record ---------------------------------------------------------------------------------


def test_a_busy_machine_is_said_to_be_busy() -> None:
    assert quiet.judge([0.5, 1.0, 40.0]).passed
    assert not quiet.judge([0.5, 30.0, 40.0]).passed


def a_check(name: str, *, passed: bool, **values: float) -> CalibrationCheck:
    return CalibrationCheck(
        name=name, question="?", measured="1 ms", limit="2 ms", passed=passed, values=values
    )


def test_the_record_names_this_machine_and_carries_the_ceiling_of_each_sampler() -> None:
    found = {"ceiling_per_s": 7.0, "streaming_ceiling_per_s": 9.0}
    made = record([a_check("one", passed=True), a_check("two", passed=False, **found)])
    assert made.machine == machine.identity(machine.describe())
    assert (made.ceiling_of("http-sampler"), made.ceiling_of("streaming")) == (7.0, 9.0)
    assert record([a_check("one", passed=True)]).ceiling_of("streaming") is None


def unheard(note: str) -> None:
    raise AssertionError(note)


def test_the_newest_calibration_of_this_machine_holds(tmp_path: Path) -> None:
    made = record([a_check("one", passed=True)])
    older = made.model_copy(update={"made": "2020-01-01T00:00:00+00:00"})
    other = made.model_copy(
        update={"made": "2999-01-01T00:00:00+00:00", "machine": {"processor": "another"}}
    )
    for each in (older, made, other):
        calibration.keep(each, tmp_path)
    assert calibration.newest_for(made.machine, unheard, tmp_path) == made
    assert calibration.newest_for({"processor": "a third"}, unheard, tmp_path) is None


def test_a_run_gets_the_newest_calibration_of_its_own_machine_and_keeps_it_elsewhere(
    tmp_path: Path,
) -> None:
    run = Run(tmp_path / "run")
    write_json(run.machine_file, machine.describe())
    calibration.adopt(run, unheard, tmp_path)
    assert run.calibration() is None
    made = record([a_check("one", passed=True)])
    calibration.keep(made, tmp_path)
    calibration.adopt(run, unheard, tmp_path)
    assert run.calibration() == made
    calibration.adopt(run, unheard, tmp_path / "of another machine")
    assert run.calibration() == made


def test_a_failing_check_is_printed_as_failing_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = record([a_check("one", passed=True), a_check("two", passed=False)])
    kept: list[Calibration] = []

    def keep(each: Calibration) -> Path:
        kept.append(each)
        return calibration.keep(each, tmp_path)

    monkeypatch.setattr(command, "calibrate", lambda _tell: made)
    monkeypatch.setattr(command, "keep", keep)
    shown = CliRunner().invoke(app, ["calibrate"])
    assert shown.exit_code == 0
    assert "FAILED" in shown.output
    assert kept == [made]
