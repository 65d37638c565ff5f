"""Whole runs with JMeter against stubs that go wrong: what is measured, said, and left behind."""

from __future__ import annotations

import re
import shutil
import signal
from itertools import cycle, pairwise
from pathlib import Path

import pytest
from stub_bench import Bench, Ran
from waiting import PATIENCE_S, await_true

from restbench.analyse import exported, long_windows, measures
from restbench.experiment.level import Logs
from restbench.store import exported as run_file

pytestmark = pytest.mark.live

MORE = """
[[cells]]
name = "more users"
service = "java"
strategy = "pipeline"
complexity = "tiny"
users = 5

[[cells]]
name = "lines of a log"
service = "java"
strategy = ["serial", "thread-pool", "pipeline"]
complexity = "logs-two"
users = 2

[[tests]]
id = "T-X01"
where = { strategy = "pipeline" }
"""
LOGS = 'logs-two = { rules = "R16", lines = 2 }'
WINDOWS = '[{ strategy = "pipeline", complexity = "tiny", users = 2 }]'


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A wrong answer before the trials, one in them, errors, and two good cells; of matrices and of
    lines of a log."""
    bench = Bench(tmp_path_factory.mktemp("wrong"))
    names = ["serial", "thread-pool", "pinned", "pipeline"]
    faults = {
        "serial": "wrong",
        "thread-pool": "wrong-under-load",
        "pinned": "error",
        "pipeline": "slow",
    }
    long = {"window_s": 2.0, "windows": WINDOWS}
    path = Path(bench.experiment({"java": names}, extra=MORE, minutes=0.15, **long))
    path.write_text(path.read_text().replace("[complexities]", f"[complexities]\n{LOGS}"))
    done = bench.restbench("run", str(path), "--profile", "p", faults=faults)
    return Ran(bench, done)


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A service that dies once and one that dies always, a strategy that is not there, a service
    that does not come up."""
    bench = Bench(tmp_path_factory.mktemp("failing"))
    names = ["serial", "thread-pool", "pinned", "virtual-threads"]
    faults = {
        "serial": "die-once",
        "thread-pool": "die-proving",
        "virtual-threads": "absent",
        "python": "no-start",
    }
    path = bench.experiment({"java": names, "python": ["serial"]})
    done = bench.restbench("run", path, "--profile", "p", faults=faults)
    return Ran(bench, done)


def test_a_wrong_answer_ends_a_run_with_exit_code_5_and_names_the_cells(wrong: Ran) -> None:
    assert wrong.done.returncode == 5, wrong.done.stdout + wrong.done.stderr
    assert "wrong answers in 4 cells" in wrong.done.stderr
    for level in ("tiny", "logs-two"):
        assert f"java-serial-unbound-{level}-2u" in wrong.done.stderr
        assert f"java-thread-pool-unbound-{level}-2u" in wrong.done.stderr


def test_a_wrong_answer_before_the_trials_leaves_none(wrong: Ran) -> None:
    assert wrong.bench.trials("serial") == []
    assert "before the first trial" in wrong.bench.events("wrong")[0].text


def test_rule_5_a_wrong_answer_in_a_trial_voids_its_cell_and_nothing_else(wrong: Ran) -> None:
    row = wrong.bench.row("thread-pool")
    assert row["throughput_per_s"] == row["mean_ms"] == row["cpu_ms_per_request"] == ""
    assert "wrong-answers" in row["flags"].split()
    for other in ("pinned", "pipeline"):
        assert float(wrong.bench.row(other)["throughput_per_s"]) > 0
        assert "wrong-answers" not in wrong.bench.row(other)["flags"].split()


def test_lines_of_a_log_are_measured_voided_and_told_as_matrices_are(wrong: Ran) -> None:
    rows = {row.cell.strategy: row for row in measures.rows(wrong.run) if row.logs}
    assert (rows["pipeline"].value("throughput_per_s") or 0) > 0
    assert (rows["pipeline"].value("wrong_answers"), rows["pipeline"].value("errors")) == (0, 0)
    assert {rows[each].value("throughput_per_s") for each in ("serial", "thread-pool")} == {None}
    assert "wrong-answers" in rows["thread-pool"].flags
    told = run_file.read(wrong.run.exported_file)
    cells = {each.id: each for each in told.cells if "-pipeline-" in each.id}
    assert cells["java-pipeline-unbound-logs-two-2u"].logs == Logs(rules="R16", lines=2)
    assert cells["java-pipeline-unbound-logs-two-2u"].shape is None
    assert cells["java-pipeline-unbound-tiny-2u"].logs is None
    again = {row.cell.strategy: row.work for row in exported.rows_of(told) if row.logs}
    assert again == dict.fromkeys(("serial", "thread-pool", "pipeline"), 32)


def test_errors_are_counted_apart_and_never_as_throughput(wrong: Ran) -> None:
    row, trials = wrong.bench.row("pinned"), wrong.bench.trials("pinned")
    correct = sum(each.completions for each in trials if not each.arm)
    errors = sum(each.errors for each in trials if not each.arm)
    assert errors > 0
    assert (int(row["samples"]), int(row["errors"])) == (correct, errors)
    assert "errors" in row["flags"].split()


def test_the_trials_of_all_cells_are_interleaved(wrong: Ran) -> None:
    found = [each.cell for each in wrong.run.trials.trials() if not each.arm]
    assert len(set(found)) == 6  # two never began, two wrong ones are out after a round
    changes = sum(one != two for one, two in pairwise(found))
    assert changes > len(set(found))


def test_what_is_kept_is_what_ended_in_it(wrong: Ran) -> None:
    for each in wrong.bench.trials("pipeline"):
        assert each.completions <= each.users * (each.seconds / 0.05 + 1)
        assert each.users_in_flight <= each.users * 1.5
        assert each.service_cpu_ms is not None
    assert wrong.bench.events("count-mismatch") == []


def test_a_long_window_has_sar_a_jtl_and_a_dashboard(wrong: Ran) -> None:
    run = wrong.bench.latest
    folder = run.window("java-pipeline-unbound-tiny-2u")
    assert folder.samples.exists()
    (seen,) = long_windows.of_run(run)
    assert seen.cell == folder.path.name
    assert seen.seconds >= 1.5, "two seconds, from an answer to an answer"
    assert seen.machine_cpu_pct is not None, "sar"
    assert seen.service_peak_rss_mib, "pidstat"
    page = (run.dashboard(seen.cell) / "index.html").read_text("utf-8")
    moment = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    assert len(re.findall(rf"(?:Start|End) Time</td>\s*<td>\W*{moment}", page)) == 2


def test_a_run_leaves_no_process_behind(wrong: Ran, failing: Ran) -> None:
    assert wrong.bench.left_running() == []
    assert failing.bench.left_running() == []


def test_failed_cells_end_a_run_with_exit_code_4_and_the_others_are_measured(failing: Ran) -> None:
    assert failing.done.returncode == 4, failing.done.stdout + failing.done.stderr
    # What this Java does not offer is a failed cell, and no failure of the run.
    assert "2 cells failed" in failing.done.stderr
    assert failing.bench.trials("pinned")
    assert failing.bench.latest.manifest().status == "complete"


def test_a_service_that_dies_once_is_started_anew_and_its_cell_is_measured(failing: Ran) -> None:
    assert failing.bench.trials("serial")
    texts = [each.text for each in failing.bench.events("restarted")]
    assert any("stub: out of memory, giving up" in each for each in texts)


def test_a_strategy_that_is_not_offered_says_so_and_what_is(failing: Ran) -> None:
    (event,) = failing.bench.events("not-offered")
    assert "java virtual-threads: not offered by this service on Stub 1.0" in event.text
    assert "it offers serial, thread-pool" in event.text


def test_a_service_that_does_not_come_up_fails_its_cells_with_the_end_of_its_log(
    failing: Ran,
) -> None:
    texts = [each.text for each in failing.bench.events("failed")]
    assert any("this machine is not good enough for me" in each for each in texts)


def test_an_interrupted_run_keeps_what_was_measured_and_leaves_nothing_running(
    tmp_path: Path,
) -> None:
    """However often it is told, and by which signal: a second one would tear what the first has
    begun."""
    bench = Bench(tmp_path)
    path = bench.experiment({"java": ["serial", "pinned"]}, minutes=2)
    started = bench.start("run", path, "--profile", "p")
    signals = cycle([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])

    def has_ended() -> bool:
        started.send_signal(next(signals))
        return started.poll() is not None

    try:
        bench.await_trial(started)
        assert await_true(has_ended)
        _, err = started.communicate(timeout=PATIENCE_S)
    finally:
        started.kill()
    assert started.returncode == 130
    assert "--resume" in err
    assert bench.left_running() == []
    assert bench.latest.manifest().status == "interrupted"
    assert bench.latest.trials.trials()


def test_without_sar_a_run_does_not_begin(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
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
