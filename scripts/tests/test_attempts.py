"""One run in which everything fails that can fail before a cell: the rest is measured."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from stub_bench import Bench, Ran

from restbench.failures import EnvironmentProblem, StorageProblem
from restbench.schedule import attempts

pytestmark = pytest.mark.live

FAULTS = {
    "serial": "die-once",
    "thread-pool": "clock",
    "pipeline": "die-warming",
    "shared-pool": "die-proving",
    "virtual-threads": "late",
    "python": "no-start",
}


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    bench = Bench(tmp_path_factory.mktemp("attempts"))
    java = ["serial", "thread-pool", "pipeline", "shared-pool", "virtual-threads"]
    path = Path(bench.experiment({"java": java, "python": ["serial", "process-per-request"]}))
    text = path.read_text().replace("java = 0.0", "java = 0.1")
    text = text.replace("warmup_s = 0.3", "warmup_s = 0.3\nwarmup_max_s = 60.0")
    path.write_text(text.replace("slow_window_max_s = 5.0", "slow_window_max_s = 2.0"))
    return Ran(bench, bench.restbench("run", str(path), "--profile", "p", faults=FAULTS))


def test_every_planned_cell_has_a_record_and_the_run_is_complete(failing: Ran) -> None:
    assert failing.done.returncode == 4, failing.done.stdout + failing.done.stderr
    assert "4 cells failed" in failing.done.stderr
    manifest = failing.bench.latest.manifest()
    assert manifest.status == "complete"
    assert {record.cell for record, _ in failing.bench.latest.cell_runs()} == {
        planned.cell for planned in manifest.plan
    }


def test_a_cell_measured_at_the_second_attempt_says_so_and_why(failing: Ran) -> None:
    record = failing.bench.record("java", "serial")
    assert record.status == "measured"
    assert {"retried", "service-restarted"} <= set(record.flags)
    assert record.first_failure is not None
    assert "stub: out of memory, giving up" in record.first_failure
    row = failing.bench.row("serial", "java")
    assert float(row["throughput_per_s"]) > 0
    assert "retried" in row["flags"].split()


def test_a_cell_during_which_the_clock_was_set_is_measured_again(failing: Ran) -> None:
    record = failing.bench.record("java", "thread-pool")
    assert record.status == "measured"
    assert record.first_failure is not None
    assert record.first_failure.startswith("the clock was set by -3,600.")
    assert "let the time service slew" in record.first_failure
    manifest = failing.bench.latest.manifest()
    begun, ended = (datetime.fromisoformat(str(t)) for t in (manifest.started, manifest.finished))
    assert 0 < (ended - begun).total_seconds() < 3000


def test_warm_up_goes_on_until_every_user_has_had_an_answer(failing: Ran) -> None:
    record = failing.bench.record("java", "virtual-threads")
    assert record.window is not None
    folder = failing.bench.latest.cell(1, record.cell.id)
    with folder.samples.open() as samples:
        lines = [line for line in csv.DictReader(samples) if line["success"] == "true"]
    ends_ms = [
        (each["threadName"], int(each["timeStamp"]) + int(each["elapsed"])) for each in lines
    ]
    answered = {user for user, end_ms in ends_ms if end_ms <= record.window.start_ms}
    assert len(answered) == record.cell.users
    assert min(int(each["timeStamp"]) for each in lines) + 600 <= record.window.start_ms


@pytest.mark.parametrize(
    ("service", "strategy", "reason"),
    [
        ("java", "pipeline", "the service died of its warm-up; its log ends:\n"),
        ("java", "shared-pool", "could not be looked at while it served: the service died of it;"),
        ("python", "serial", "ended at once; its log ends:\nstub: this machine is not good eno"),
        ("python", "process-per-request", "stub: this machine is not good enough for me"),
    ],
)
def test_a_failed_cell_has_its_reason_with_the_end_of_the_log_and_no_number(
    failing: Ran, service: str, strategy: str, reason: str
) -> None:
    record = failing.bench.record(service, strategy)
    assert record.status == "failed"
    assert record.window is None
    assert record.usage is None
    assert reason in (record.reason or "")
    row = failing.bench.row(strategy, service)
    assert row["throughput_per_s"] == row["mean_ms"] == row["cpu_ms_per_request"] == ""
    assert "failed" in row["flags"].split()


def test_the_strategies_beside_a_fatal_one_are_measured(failing: Ran) -> None:
    record = failing.bench.record("java", "virtual-threads")
    assert record.status == "measured"
    assert record.first_failure is None
    assert failing.bench.left_running() == []


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (EnvironmentProblem("JMeter did not start a test"), "JMeter did not start a test"),
        (FileNotFoundError(2, "No such file", "setpriv"), "an error that nobody expected:"),
        (ValueError("could not convert string to float"), "ValueError: could not convert string"),
    ],
)
def test_whatever_an_attempt_ends_with_becomes_words(error: Exception, told: str) -> None:
    assert told in attempts.why(error)


@pytest.mark.parametrize(
    "make", [lambda: OSError(28, "No space left on device"), lambda: StorageProblem("full")]
)
def test_what_makes_every_record_impossible_is_no_cells_failure(
    make: Callable[[], Exception],
) -> None:
    with pytest.raises(StorageProblem):
        attempts.why(make())


def test_a_second_attempt_does_not_hide_wrong_answers_of_the_first(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    path = bench.experiment({"java": ["serial"]})
    done = bench.restbench("run", path, "--profile", "p", faults={"serial": "wrong-then-die-once"})
    assert done.returncode == 5, done.stdout + done.stderr
    record = bench.record("java", "serial")
    assert record.status == "failed"
    assert record.first_failure is None
    assert "answers were wrong; then: " in str(record.reason)
    assert "wrong-answers" in record.flags
