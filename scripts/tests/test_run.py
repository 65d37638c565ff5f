"""Whole runs with JMeter against a stub that goes wrong: what is recorded, and left behind."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from stub_bench import Bench, Ran

from restbench.experiment.records import CellRun
from restbench.store.store import Run

pytestmark = pytest.mark.live


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run with a wrong answer before the load, one under load, errors, and a good cell."""
    bench = Bench(tmp_path_factory.mktemp("wrong"))
    names = ["serial", "thread-pool", "pinned", "pipeline"]
    faults = {
        "serial": "wrong",
        "thread-pool": "wrong-under-load",
        "pinned": "error",
        "pipeline": "slow",
    }
    done = bench.restbench(
        "run", bench.experiment({"java": names}), "--profile", "p", faults=faults
    )
    return Ran(bench, done)


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run with a service that dies under load, a strategy that hangs, one that is not there."""
    bench = Bench(tmp_path_factory.mktemp("failing"))
    names = ["serial", "thread-pool", "pinned", "virtual-threads"]
    faults = {"serial": "die", "thread-pool": "hang", "virtual-threads": "absent"}
    done = bench.restbench(
        "run", bench.experiment({"java": names}), "--profile", "p", faults=faults
    )
    return Ran(bench, done)


def test_a_wrong_answer_ends_a_run_with_exit_code_5_and_names_the_cells(wrong: Ran) -> None:
    assert wrong.done.returncode == 5, wrong.done.stdout + wrong.done.stderr
    assert "wrong answers in 2 cells" in wrong.done.stderr
    assert "java-serial-unbound-tiny-2u" in wrong.done.stderr
    assert "java-thread-pool-unbound-tiny-2u" in wrong.done.stderr


def test_a_wrong_answer_before_the_load_fails_the_cell_and_nothing_is_sent(wrong: Ran) -> None:
    record = wrong.bench.record("java", "serial")
    assert record.status == "failed"
    assert record.reason is not None
    assert "the product is wrong" in record.reason
    assert "wrong-answers" in record.flags
    assert not wrong.bench.latest.cell(1, record.cell.id).samples.exists()


def test_a_wrong_answer_under_load_voids_every_number_of_the_cell(wrong: Ran) -> None:
    row = wrong.bench.row("thread-pool")
    assert int(row["wrong_answers"]) > 0
    assert row["throughput_per_s"] == row["mean_ms"] == row["cpu_ms_per_request"] == ""
    assert "wrong-answers" in row["flags"].split()


def test_errors_are_counted_apart_and_never_as_throughput(wrong: Ran) -> None:
    row, record = wrong.bench.row("pinned"), wrong.bench.record("java", "pinned")
    correct, errors = samples_in_window(wrong.bench.latest, record)
    assert errors > 0
    assert (int(row["samples"]), int(row["errors"])) == (correct, errors)
    assert record.window is not None
    assert float(row["throughput_per_s"]) == pytest.approx(
        correct / record.window.seconds, abs=1e-3
    )
    assert "errors" in row["flags"].split()


def test_the_window_has_exactly_the_completions_that_ended_in_it(wrong: Ran) -> None:
    row, record = wrong.bench.row("pipeline"), wrong.bench.record("java", "pipeline")
    assert samples_in_window(wrong.bench.latest, record) == (int(row["samples"]), 0)
    assert record.window is not None
    assert 0 < int(row["samples"]) <= 2 * (record.window.seconds / 0.05 + 1)  # two users at 50 ms
    assert "count-mismatch" not in row["flags"].split()


def samples_in_window(run: Run, record: CellRun) -> tuple[int, int]:
    """Correct and failed samples whose END is in the window, by plain Python."""
    assert record.window is not None
    correct = errors = 0
    with run.cell(record.block, record.cell.id).samples.open() as samples:
        for line in csv.DictReader(samples):
            if not line["success"]:
                continue  # cut off when JMeter was stopped
            end_ms = int(line["timeStamp"]) + int(line["elapsed"])
            if record.window.start_ms <= end_ms < record.window.end_ms:
                correct += line["success"] == "true"
                errors += line["success"] == "false"
    return correct, errors


def test_a_run_leaves_no_process_behind(wrong: Ran, failing: Ran) -> None:
    assert wrong.bench.left_running() == []
    assert failing.bench.left_running() == []


def test_failed_cells_end_a_run_with_exit_code_4_and_the_others_are_measured(failing: Ran) -> None:
    assert failing.done.returncode == 4, failing.done.stdout + failing.done.stderr
    # What this Java does not offer is a failed cell, and no failure of the run.
    assert "2 cells failed" in failing.done.stderr
    status = {record.cell.strategy: record.status for record, _ in failing.bench.latest.cell_runs()}
    assert status == {
        "serial": "failed",
        "thread-pool": "failed",
        "virtual-threads": "failed",
        "pinned": "measured",
    }
    assert failing.bench.latest.manifest().status == "complete"


def test_a_service_that_dies_under_load_leaves_the_end_of_its_log_in_the_record(
    failing: Ran,
) -> None:
    reason = failing.bench.record("java", "serial").reason
    assert reason is not None
    assert "the service died under load" in reason
    assert "stub: out of memory, giving up" in reason


def test_a_cell_that_fails_has_a_second_attempt_unless_that_could_not_end_otherwise(
    failing: Ran, wrong: Ran
) -> None:
    died, hung = (failing.bench.record("java", name) for name in ("serial", "thread-pool"))
    assert died.first_failure is not None
    assert "stub: out of memory, giving up" in died.first_failure
    assert hung.first_failure == hung.reason
    assert "java-thread-pool-unbound-tiny-2u: once more on a fresh service" in failing.done.stdout
    assert failing.bench.record("java", "virtual-threads").first_failure is None
    assert wrong.bench.record("java", "serial").first_failure is None, "a wrong answer is final"


def test_the_cell_after_a_failed_one_gets_a_new_service_and_says_so(failing: Ran) -> None:
    order = sorted(
        (record for record, _ in failing.bench.latest.cell_runs()), key=lambda r: r.order
    )
    good = next(record for record in order if record.status == "measured")
    spent = any(each.order < good.order for each in order if each.first_failure)
    assert ("service-restarted" in good.flags) == spent


def test_a_strategy_that_hangs_fails_with_what_it_was_waited_for(failing: Ran) -> None:
    reason = failing.bench.record("java", "thread-pool").reason
    assert reason is not None
    assert "no answer before any load: timed out" in reason


def test_a_strategy_that_is_not_offered_says_so_and_what_is(failing: Ran) -> None:
    reason = failing.bench.record("java", "virtual-threads").reason
    assert reason is not None
    assert "java virtual-threads: not offered by this service on Stub 1.0" in reason
    assert "it offers serial, thread-pool" in reason


def test_a_dashboard_is_made_of_any_measured_cell_and_can_be_made_again(failing: Ran) -> None:
    cell = "java-pinned-unbound-tiny-2u"
    for _ in range(2):
        done = failing.bench.restbench("dashboard", "latest", cell)
        assert done.returncode == 0, done.stderr
    assert (failing.bench.latest.dashboard(cell) / "index.html").exists()


def test_a_dashboard_of_a_failed_cell_is_refused_with_the_reason(failing: Ran) -> None:
    done = failing.bench.restbench("dashboard", "latest", "java-serial-unbound-tiny-2u")
    assert done.returncode == 2
    assert "has no window to show: the service died under load" in done.stderr


def test_without_sar_a_run_does_not_begin(bench: Bench) -> None:
    tools = bench.folder / "bin"
    tools.mkdir()
    java = shutil.which("java")
    assert java is not None
    (tools / "java").symlink_to(java)
    done = bench.restbench(
        "run", bench.experiment({"java": ["serial"]}), "--profile", "p", PATH=str(tools)
    )
    assert done.returncode == 3
    assert done.stderr.strip().startswith("restbench: sar, sadf, pidstat missing: apt-get install")
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(bench.folder.glob("*/manifest.json")) == []
