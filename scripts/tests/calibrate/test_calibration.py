"""A calibration must fail where the measuring chain is wrong: each check is broken on purpose."""

from __future__ import annotations

import math
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from fixture_run import MACHINE
from trial_run import SPEED
from typer.testing import CliRunner

from restbench.calibrate import generator_cost, latency, overhead, same_cell, stall, wrk_arm
from restbench.calibrate.bench import load_of
from restbench.calibrate.calibrate import quiet, record
from restbench.calibrate.wrk_arm import Round
from restbench.cli import app
from restbench.commands import calibrate as command
from restbench.drive.generator import ERROR
from restbench.drive.wrk import Load
from restbench.experiment.records import Calibration, CalibrationCheck
from restbench.failures import EnvironmentProblem
from restbench.machine import machine
from restbench.machine.placement import Cores
from restbench.store import machine_findings
from restbench.store.store import Run
from restbench.store.trials import AGAIN, Trial
from restbench.store.writing import write_json

TWO_CORES = Cores(service=(0, 1), load=(0, 1))
#: Six of the service, two of the load generator.
OWN_CORES = Cores(service=(0, 1, 2, 3, 4, 5), load=(6, 7))
DESCRIBED = MACHINE | {"speed": SPEED}


@pytest.fixture(autouse=True)
def _described(monkeypatch: pytest.MonkeyPatch) -> None:
    """To ask the machine itself takes seconds of CPU time."""
    monkeypatch.setattr(machine, "describe", lambda: DESCRIBED)


# --- known latency ------------------------------------------------------------------------------


@pytest.mark.parametrize("delay_ms", [5.0, 50.0])
def test_a_chain_that_adds_2_ms_fails(delay_ms: float) -> None:
    off = latency.PointResult(delay_ms, 5_000, delay_ms + 2, delay_ms + 2)
    right = latency.PointResult(delay_ms, 5_000, delay_ms, delay_ms + 1)
    assert latency.judge([right]).passed
    check = latency.judge([right, off])
    assert not check.passed
    assert "changes response times by up to 2.0 ms" in check.follows


def test_a_p99_below_the_delay_fails() -> None:
    assert not latency.judge([latency.PointResult(50, 5_000, 50, 40)]).passed


def test_a_p99_of_too_few_responses_shows_nothing_and_fails() -> None:
    check = latency.judge([latency.PointResult(50, 999, 50, None)])
    assert not check.passed
    assert "p99 not known (999 responses)" in check.measured


def test_every_delay_is_asked_for_more_often_than_a_p99_needs() -> None:
    for point in latency.POINTS:
        asked = 1000 * point.keep_s / point.delay_ms * point.users
        assert asked > 1.1 * latency.ENOUGH_FOR_P99


# --- network delay ------------------------------------------------------------------------------


@pytest.mark.parametrize(("median_ms", "passes"), [(46.3, True), (46.5, False), (0.0, False)])
def test_a_relay_that_adds_more_than_its_delay_fails(median_ms: float, *, passes: bool) -> None:
    """Twice 20 ms to a stub of 5 ms; 0 where no answer came."""
    direct, relayed = (
        latency.PointResult(5, 3000, 5.0, 5.4),
        latency.PointResult(5, 300, median_ms, None),
    )
    assert latency.judge_relay(direct, relayed).passed == passes


# --- generator ----------------------------------------------------------------------------------

TOP = (60, Load(60_000, per_s=20_000, service_ms=0.049, generator_ms=0.025))


def costing(generator_ms: float) -> Load:
    return Load(60_000, per_s=20_000, service_ms=0.06, generator_ms=generator_ms)


def test_a_generator_that_takes_more_than_two_fifths_of_the_cpu_time_fails() -> None:
    assert generator_cost.judge(costing(0.0399), TOP, TWO_CORES).passed
    check = generator_cost.judge(costing(0.0401), TOP, TWO_CORES)
    assert not check.passed
    assert check.values["generator_share"] == pytest.approx(0.0401 / 0.1001)


def test_the_throughput_that_both_costs_allow_stands_beside_what_was_measured() -> None:
    # 2 cores for 0.1 ms a request; 6 for the service's 0.06 ms and 2 for the generator's 0.04 ms.
    for generator_ms, cores, per_s in (
        (0.04, TWO_CORES, 20_000),
        (0.04, OWN_CORES, 50_000),
        (0.01, OWN_CORES, 100_000),
    ):
        check = generator_cost.judge(costing(generator_ms), TOP, cores)
        assert check.values["predicted_per_s"] == pytest.approx(per_s)
    check = generator_cost.judge(costing(0.03), TOP, TWO_CORES)
    assert "allow 22222/s; 20000/s were measured (90%)" in check.measured
    assert "(60 users; it uses 0.50 cores, the stub 0.98)" in check.measured


def test_cores_of_its_own_are_told_by_the_measured_cost() -> None:
    """How many they are is told in test_placement."""
    for cores, generator_ms, own in ((TWO_CORES, 0.02, 0), (OWN_CORES, 0.005, 2)):
        check = generator_cost.judge(costing(generator_ms), TOP, cores)
        assert check.values["load_cores"] == own
        assert ("cores of its own" in check.measured) == bool(own)


def test_costs_are_those_of_all_trials_together() -> None:
    costs = generator_cost.costs_of(trials([1.0], [1.0]))
    # 1 000 a second at 100 ms and 50 ms of CPU time.
    assert (costs.service_ms, costs.generator_ms) == pytest.approx((0.1, 0.05))
    assert costs.per_s == pytest.approx(1_000)


# --- wrk ----------------------------------------------------------------------------------------


def rounds(jmeter: float, wrk: float, noise: float = 0.01, count: int = 25) -> list[Round]:
    """serial is so many times as fast as pinned under each; JMeter costs 0.05 ms, wrk 0.01, serial
    0.05 and pinned 0.1."""
    draw = np.random.default_rng(1)
    found = []
    for _ in range(count):
        turns: Round = {}
        for generator, ratio, cost_ms in (("JMeter", jmeter, 0.05), ("wrk", wrk, 0.01)):
            speed = 10_000 * ratio * float(draw.lognormal(0, noise))
            turns[generator, "serial"] = Load(1, speed, 0.05, cost_ms)
            turns[generator, "pinned"] = Load(1, 10_000, 0.1, cost_ms)
        found.append(turns)
    return found


#: By the CPU times of `rounds`.
JMETER, WRK = 0.15 / 0.1, 0.11 / 0.06


def test_what_the_generators_costs_explain_is_no_failure() -> None:
    check = wrk_arm.judge(rounds(JMETER, WRK), shared=True)
    assert check.passed
    assert check.values["explained"] == pytest.approx(JMETER / WRK)
    assert check.values["ratio_of_ratios"] == pytest.approx(JMETER / WRK, rel=0.02)


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_ratio_that_jmeter_changes_by_more_than_its_cost_fails(factor: float) -> None:
    assert not wrk_arm.judge(rounds(JMETER * factor, WRK), shared=True).passed


def test_a_generator_with_cores_of_its_own_may_change_no_ratio() -> None:
    assert wrk_arm.judge(rounds(2, 2), shared=False).passed
    assert not wrk_arm.judge(rounds(JMETER, WRK), shared=False).passed


# --- A/A ----------------------------------------------------------------------------------------


def trials(first: list[float], again: list[float]) -> list[Trial]:
    """Of one cell in both arms, a batch each; 1 is 1 000 responses in a second."""
    return [
        Trial(
            block=batch,
            round=1,
            cell=same_cell.CELL.id,
            arm=arm,
            users=10,
            began_ms=0,
            seconds=1.0,
            elapsed_us=np.zeros(round(1_000 * speed), dtype=np.int64),
            service_cpu_ms=100.0,
            generator_cpu_ms=50.0,
        )
        for batch, both in enumerate(zip(first, again, strict=True), start=1)
        for arm, speed in zip(("", AGAIN), both, strict=True)
    ]


def noisy(spread: float, bias: float = 1.0, seed: int = 1) -> list[Trial]:
    count = same_cell.COMPARISONS * same_cell.BATCHES
    one, two = np.random.default_rng(seed).lognormal(0, spread, (2, count))
    return trials(one.tolist(), (bias * two).tolist())


@pytest.mark.parametrize("spread", [0.01, 0.05, 0.2])
def test_noise_of_any_size_is_not_called_a_difference(spread: float) -> None:
    passed = [same_cell.judge(noisy(spread, seed=seed)).passed for seed in range(20)]
    assert sum(passed) >= 19


def test_an_arm_that_is_favoured_fails() -> None:
    check = same_cell.judge(noisy(0.01, bias=0.98))
    assert not check.passed
    assert check.values["ratio"] == pytest.approx(1 / 0.98, rel=0.005)


def test_the_number_of_wrong_verdicts_that_chance_gives_is_the_binomials() -> None:
    # 40 comparisons at 5 %: more than 6 come with 0.34 %, more than 5 with 1.39 %.
    assert same_cell.most_by_chance(40) == 6
    more_than_5 = 1 - sum(math.comb(40, k) * 0.05**k * 0.95 ** (40 - k) for k in range(6))
    assert more_than_5 > same_cell.LEAST_PROBABILITY


# --- stall --------------------------------------------------------------------------------------


def test_a_closed_load_shows_a_stall_in_its_slowest_response_only() -> None:
    assert stall.judge_closed({"p99_ms": 22, "slowest_ms": 2_010, "touched": 10}).passed


@pytest.mark.parametrize(
    "wrong",
    [
        {"p99_ms": 22, "slowest_ms": 40, "touched": 0},  # the slowest were dropped
        {"p99_ms": 2_000, "slowest_ms": 2_010, "touched": 500},  # that was no closed load
        {"p99_ms": 22, "slowest_ms": 900, "touched": 10},  # another stall than the stub's
    ],
)
def test_a_closed_load_that_shows_a_stall_otherwise_fails(wrong: dict[str, float]) -> None:
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


# --- overhead -----------------------------------------------------------------------------------


def pairs(watched: float, cpu_share: float, noise: float) -> list[overhead.Pair]:
    draw = np.random.default_rng(1)
    both = 1_000 * draw.lognormal(0, noise, (overhead.PAIRS, 2))
    return [overhead.Pair(watched * float(a), float(b), cpu_share) for a, b in both]


def test_a_collector_of_a_hundredth_and_more_fails_however_noisy_the_throughput() -> None:
    assert overhead.judge(pairs(1.0, cpu_share=0.002, noise=0.2)).passed
    assert not overhead.judge(pairs(1.0, cpu_share=0.011, noise=0.2)).passed


def test_a_loss_of_throughput_beyond_the_cpu_time_fails() -> None:
    check = overhead.judge(pairs(0.95, cpu_share=0.002, noise=0.02))
    assert not check.passed
    assert check.values["cost"] == pytest.approx(0.05, abs=0.02)


def test_a_process_that_a_collector_starts_during_a_trial_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sar starts sadc a moment after its own begin."""
    cpu_ms, trees, sar = {1: 10.0}, {1: [1]}, {"sar": Mock(pid=1)}

    def trial(*_: object) -> Mock:
        cpu_ms.update({1: 20.0, 2: 50_000.0})
        trees[1].append(2)
        return Mock()

    monkeypatch.setattr(overhead.monitor, "collectors", lambda *_: nullcontext(sar))
    monkeypatch.setattr(overhead.process, "tree", lambda pid: tuple(trees[pid]))
    monkeypatch.setattr(overhead.process, "cpu_ms", lambda pids: sum(cpu_ms[pid] for pid in pids))
    monkeypatch.setattr(overhead, "load_of", lambda _: Mock(per_s=1.0))
    monkeypatch.setattr(overhead.time, "monotonic", iter((0.0, 10.0)).__next__)
    _, share = overhead._trial(Mock(folder=tmp_path), Mock(trial=trial), Mock(), watched=True)
    assert share * len(overhead.allowed_cores()) == pytest.approx(5.0, abs=0.5)


# --- the record ---------------------------------------------------------------------------------


def test_a_machine_that_others_use_meanwhile_is_said_to_be_busy() -> None:
    assert quiet(5.0).passed
    assert not quiet(5.1).passed


def a_check(name: str, *, passed: bool, **values: float) -> CalibrationCheck:
    return CalibrationCheck(
        name=name,
        question="?",
        measured="1 ms",
        limit="2 ms",
        passed=passed,
        values=values,
        follows=f"do not believe {name}",
    )


def test_the_record_names_this_machine_and_what_a_run_needs_of_it() -> None:
    found = {"ceiling_per_s": 7.0, "generator_share": 0.3, "load_cores": 2.0}
    made = record([a_check("one", passed=True), a_check("two", passed=False, **found)])
    assert machine.identity_differences(made.machine, machine.identity(DESCRIBED)) == []
    assert (made.ceiling_per_s, made.generator_share, made.load_cores) == (7.0, 0.3, 2)
    assert [each.follows for each in made.checks] == ["", "do not believe two"]
    assert record([a_check("one", passed=True)]).load_cores is None


def test_a_calibration_of_another_machine_is_refused_in_words(tmp_path: Path) -> None:
    made = record([a_check("one", passed=True)])
    machine_findings.keep(made, tmp_path)
    told: list[str] = []
    speed = float(made.machine["integer_loops_per_s"])
    twice_as_fast = {**made.machine, "integer_loops_per_s": 2 * speed}
    assert machine_findings.newest_for(Calibration, twice_as_fast, tmp_path, told.append) is None
    (note,) = told
    assert "refused: the calibration of" in note
    speeds = f"integer loops per s {speed:.0f}, here {2 * speed:.0f}"
    assert f"comes from another machine ({speeds})" in note, "rounded, as compare tells them"
    slower = {**made.machine, "integer_loops_per_s": speed / 1.4}
    assert machine_findings.newest_for(Calibration, slower, tmp_path, pytest.fail) == made


def adopt(run: Run, folder: Path) -> None:
    machine_findings.adopt(Calibration, run, run.calibration_file, folder, pytest.fail)


def test_a_run_keeps_the_calibration_that_was_the_newest_when_it_began(tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    write_json(run.machine_file, DESCRIBED)
    adopt(run, tmp_path)
    assert run.calibration() is None
    made = record([a_check("one", passed=True, load_cores=2.0)])
    machine_findings.keep(made, tmp_path)
    adopt(run, tmp_path)
    assert run.calibration() == made
    assert made.load_cores == 2
    newer = {"made": "2999-01-01T00:00:00+00:00", "load_cores": 1}
    machine_findings.keep(made.model_copy(update=newer), tmp_path)
    adopt(run, tmp_path)
    assert run.calibration() == made


def test_rule_12_a_calibration_under_another_runtime_is_used_and_said(tmp_path: Path) -> None:
    made = record([a_check("one", passed=True)])
    machine_findings.keep(made, tmp_path)
    run, told = Run(tmp_path / "run"), list[str]()
    write_json(run.machine_file, DESCRIBED | {"java": 'openjdk version "99"'})
    machine_findings.adopt(Calibration, run, run.calibration_file, tmp_path, told.append)
    assert run.calibration() == made
    (note,) = told
    assert note.startswith(f"the calibration of {made.made} was made with java ")
    assert note.endswith('here openjdk version "99"')


def test_a_failing_check_is_printed_as_failing_with_what_follows_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = record([a_check("one", passed=True), a_check("two", passed=False)])
    keep = Mock(return_value=tmp_path)
    monkeypatch.setattr(command, "calibrate", lambda _tell: made)
    monkeypatch.setattr(command, "keep", keep)
    shown = CliRunner().invoke(app, ["calibrate"])
    assert shown.exit_code == 0
    assert "FAILED" in shown.output
    assert "effect two: do not believe two" in shown.output
    assert "do not believe one" not in shown.output
    keep.assert_called_once_with(made)


def test_a_trial_without_a_right_answer_is_no_load() -> None:
    sent = Mock(first_error="status 503", measured=np.array([(ERROR,)] * 3, [("outcome", "u1")]))
    with pytest.raises(EnvironmentProblem, match="status 503"):
        load_of(sent)
