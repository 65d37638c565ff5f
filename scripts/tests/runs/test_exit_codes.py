"""Each exit code, from the command line to the shell. Beside these, whole runs end with 0, 4,
5 and, when interrupted, with 130 (`test_run`), with 3 (`test_storage`, `test_machine_lock`) or with
6 (`test_ab_live`)."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from command_line import restbench
from fixture_run import Made, build, cell, steady_load
from stub_bench import Bench
from waiting import PATIENCE_S

from restbench.analyse.measurement import Measurement
from restbench.analyse.measures import Row
from restbench.commands import measuring
from restbench.experiment.cell import Shape
from restbench.failures import (
    CellsFailed,
    EnvironmentProblem,
    ExitCode,
    Failure,
    WrongAnswers,
    counted,
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_help_has_every_code_with_its_meaning() -> None:
    shown = " ".join(restbench("--help").stdout.split())
    for code in ExitCode:
        assert f" {code.value} {code.meaning}" in shown


@pytest.mark.live
def test_1_is_a_fault_of_restbench_and_says_where(bench: Bench) -> None:
    path = bench.experiment({"java": ["serial"]})
    started = bench.start("run", path, "--profile", "p", STUB_FAULT_OF_OURS="1")
    _, err = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == ExitCode.FAULT
    assert "Traceback" in err
    assert err.strip().splitlines()[-1].startswith("TypeError: ")


def test_2_is_a_wrong_option() -> None:
    assert restbench("run", "--user", "10").returncode == ExitCode.BAD_CONFIGURATION
    assert restbench("run", "--profile").returncode == ExitCode.BAD_CONFIGURATION
    assert restbench("plan", "no-such").returncode == ExitCode.BAD_CONFIGURATION


def no_dashboards(_run: object) -> None:
    raise EnvironmentProblem("JMeter's dashboard generator failed")


def test_without_dashboards_the_rest_is_shown_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [Made(cell("java serial low 10"), steady_load(10, 50))]
    run = build(tmp_path / "run", made)
    order = measuring.order_for("smoke", "smoke", "", [])
    monkeypatch.setattr(measuring.dashboards, "write", no_dashboards)
    monkeypatch.setattr(measuring.environment, "check", lambda _order: [])
    monkeypatch.setattr(measuring.runner, "execute", lambda *_given: None)
    monkeypatch.setattr(measuring.watch, "at_end", lambda *_given: None)
    rows, failure = measuring.measured(order, run)
    assert str(failure) == "JMeter's dashboard generator failed"
    assert [row.value("throughput_per_s") for row in rows] == [200]
    assert run.report.exists()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("failed", CellsFailed), ("wrong-answers", WrongAnswers), ("", EnvironmentProblem)],
)
def test_3_for_lack_of_dashboards_hides_nothing_that_the_cells_say(
    monkeypatch: pytest.MonkeyPatch, flags: str, expected: type[Failure]
) -> None:
    failure = EnvironmentProblem("JMeter's dashboard generator failed")
    shown = ([row("serial", flags)], failure)
    order = measuring.order_for("smoke", "smoke", "", [])
    monkeypatch.setattr(measuring, "order_for", lambda *_args: order)
    monkeypatch.setattr(measuring, "measured", lambda *_args, **_options: shown)
    with pytest.raises(expected):
        measuring.run_experiment("smoke", "smoke")


@pytest.mark.live
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_130_of_an_interrupted_calibration_does_not_speak_of_runs(
    bench: Bench, how: signal.Signals
) -> None:
    """Interrupted by Ctrl-C is a run, in `test_run`."""
    started = bench.start("calibrate")
    assert started.stdout is not None
    try:
        assert started.stdout.readline().startswith("check")
        time.sleep(0.5)
        started.send_signal(how)
        _, err = started.communicate(timeout=PATIENCE_S)
    finally:
        started.kill()
    assert started.returncode == ExitCode.INTERRUPTED
    assert err.strip() == "restbench: interrupted: all started processes are stopped"


def row(strategy: str, *flags_of_blocks: str) -> Row:
    measurements = tuple(
        Measurement(block=n, flags=tuple(flags.split()), seconds=20.0)
        for n, flags in enumerate(flags_of_blocks, start=1)
    )
    return Row(
        cell(f"java {strategy} low 10"), Shape(rows=30, inner=20, columns=20), (), measurements
    )


RIGHT, FAILED = row("serial", "", "errors"), row("pinned", "failed")
WRONG = row("pipeline", "wrong-answers")


@pytest.mark.parametrize(
    ("rows", "raised", "told"),
    [
        ([FAILED, WRONG], WrongAnswers, "wrong answers in 1 cell: java-pipeline"),
        ([FAILED, RIGHT], CellsFailed, "1 cell failed: java-pinned"),
    ],
)
def test_the_graver_of_two_decides_and_the_line_names_the_other_too(
    rows: list[Row], raised: type[Failure], told: str
) -> None:
    with pytest.raises(raised) as found:
        measuring.judge(rows)
    assert str(found.value).startswith(told)
    assert "1 cell failed: java-pinned-unbound-low-10u" in str(found.value)


def test_what_is_one_is_told_as_one() -> None:
    assert [counted(each, "cell") for each in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]
    told = [counted(each, "answer", "was", "were") for each in (1, 2)]
    assert told == ["1 answer was", "2 answers were"]


def test_a_run_with_errors_and_no_failed_cell_ends_well_whatever_it_had_no_time_for() -> None:
    measuring.judge([RIGHT, row("pipeline", "not-measured")])
