"""Whole open-load runs against a stub that takes one request after the other, 10 ms each."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import pytest
from stub_bench import Bench

from restbench.analyse.open_results import results
from restbench.commands import open_load as open_commands
from restbench.experiment.open_experiment import OpenOrder
from restbench.experiment.records import PlannedCell
from restbench.failures import EnvironmentProblem
from restbench.schedule import open_load
from restbench.store.open_records import Walk
from restbench.store.store import Run
from restbench.store.writing import write_text

pytestmark = pytest.mark.live

CAPACITY_PER_S = 100
EXPERIMENT = """
kind = "open-load"
name = "stubbed"
title = "An open load against stubs"
seed = 3
arrivals = "constant"

[objective]
percentile = 50
limit_ms = 60

[rates]
start_share = 40.0
closed_users = 4
factor = 8.0
lowest_per_s = 5
highest_per_s = 400

[complexities]
tiny = { rows = 2, inner = 2, columns = 2 }

[profiles.p]
closed_s = 1.0
warmup_s = 0.5
window_min_s = 1.0
window_max_s = 8.0
tail_s = 0.5
resolution = 0.4
votes = 1
steps_max = 3
walk_max_s = 600

[[cells]]
name = "Java"
service = "java"
strategy = ["serial", "pinned"]
complexity = "tiny"
users = 16
"""


@dataclass(frozen=True)
class Ran:
    """A bench after one run over a queue."""

    bench: Bench
    code: int
    told: str
    run: Run


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return in_folder(tmp_path)


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    bench = in_folder(tmp_path_factory.mktemp("queue"))
    return Ran(bench, *run_walks(bench, "serial", "queue"))


def in_folder(folder: Path) -> Bench:
    (folder / "open.toml").write_text(EXPERIMENT)
    return Bench(folder)


def run_walks(bench: Bench, strategy: str, fault: str) -> tuple[int, str, Run]:
    arguments = ("run", str(bench.folder / "open.toml"), "--profile", "p")
    cells = ("--cells", f"strategy={strategy}")
    done = bench.restbench(*arguments, *cells, faults={strategy: fault})
    return done.returncode, done.stdout + done.stderr, bench.latest


def test_finds_the_rate_that_a_queue_of_known_capacity_can_bear(queue: Ran) -> None:
    assert queue.code == 0, queue.told
    (found,) = results(queue.run)
    # More than the capacity cannot be borne; how much less is seen depends on this machine.
    assert found.bracket.failed_per_s is not None, queue.told
    assert (found.bracket.met_per_s or 0) < 1.15 * CAPACITY_PER_S
    assert queue.bench.left_running() == []


def test_beyond_the_capacity_answers_come_at_the_capacity_and_the_rest_is_late_or_unsent(
    queue: Ran,
) -> None:
    (found,) = results(queue.run)
    first = found.steps[0]
    assert first.step.rate_per_s > 1.5 * CAPACITY_PER_S
    assert first.reasons
    # A second's answers, and at most those that a pause of the machine had kept back for it.
    assert first.answered.achieved_per_s < 1.3 * CAPACITY_PER_S
    # Of a backlog that is long enough nothing of the window is sent, not even late.
    assert first.answered.unsent > 0


def test_the_tables_say_what_was_found_and_can_be_made_again(queue: Ran) -> None:
    run = queue.run
    tables = (run.open_load_markdown, run.open_load_csv, run.open_load_steps_csv)
    first = [path.read_text() for path in tables]
    (row,) = csv.DictReader(run.open_load_csv.read_text().splitlines())
    (found,) = results(run)
    assert row["failed_per_s"] == str(found.bracket.failed_per_s)
    assert "Highest rate with p50 <= 60 ms" in queue.told
    for path in tables:
        path.unlink()
    assert queue.bench.restbench("report", str(run.path)).returncode == 0
    assert [path.read_text() for path in tables] == first


def test_a_wrong_answer_voids_the_walk(bench: Bench) -> None:
    code, told, run = run_walks(bench, "serial", "wrong-under-load")
    assert code == 5, told
    (found,) = results(run)
    assert found.walk.status == "failed"
    assert found.bracket.met_per_s is None


def test_a_walk_that_fails_twice_is_a_failed_cell_with_both_reasons(bench: Bench) -> None:
    code, told, run = run_walks(bench, "serial", "die")
    assert code == 4, told
    assert "java-serial-unbound-tiny-16u: once more on a fresh service" in told
    assert "1 cells failed: java-serial-unbound-tiny-16u" in told
    (found,) = results(run)
    assert (found.walk.status, found.steps) == ("failed", ())
    for reason in (found.walk.first_failure, found.walk.reason):
        assert "the service died under load" in (reason or "")
        assert "stub: out of memory, giving up" in (reason or "")
    assert found.bracket.met_per_s is None


def test_a_walk_that_succeeds_at_its_second_attempt_says_so_and_starts_in_an_empty_folder(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(bench.folder / "run")
    left = run.walk_step("java-serial-unbound-tiny-16u", 1).step_record

    def walk(order: OpenOrder, _run: Run, planned: PlannedCell, _say: object) -> Walk:
        if not left.exists() and not told:
            write_text(left, "{}")
            raise EnvironmentProblem("JMeter did not start a test; its log ends:\nno memory")
        assert not left.exists()
        return open_load._begun(order, planned)

    monkeypatch.setattr(open_load, "_walk", walk)
    told: list[str] = []
    order = open_commands._order(bench.folder / "open.toml", "p", "strategy=serial", [])
    found = open_load._walk_cell(order, run, order.plan[0], told.append)
    assert (found.status, found.flags) == ("walked", ("retried",))
    assert (found.first_failure or "").endswith("no memory")
    assert told == [
        "java-serial-unbound-tiny-16u: once more on a fresh service: JMeter did not start a test"
    ]


def test_a_strategy_that_is_not_offered_fails_and_says_so(bench: Bench) -> None:
    code, told, _ = run_walks(bench, "pinned", "absent")
    assert code == 4, told
    assert "java pinned: not offered" in told


def test_the_plan_is_told_without_a_start(bench: Bench) -> None:
    done = bench.restbench("plan", str(bench.folder / "open.toml"), "--profile", "p")
    assert "2 walks" in done.stdout
    assert "java-pinned-unbound-tiny-16u" in done.stdout
