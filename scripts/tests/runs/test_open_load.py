"""Whole open-load runs against a stub that takes one request after the other, 10 ms each."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import restbench
from experiment_file import OPEN_LOAD
from stub_bench import Bench, Ran

from restbench.analyse import measures
from restbench.analyse.limits import Limit
from restbench.show import export, limits
from restbench.store.store import Run

pytestmark = pytest.mark.live

CAPACITY_PER_S = 100


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return in_folder(tmp_path)


@dataclass
class Resumed(Ran):
    """A run that was killed in its second block, after it has gone on."""

    left: list[str]
    """What still ran when the killed one was gone."""
    began_ms: list[int]
    """The trials of its first block."""


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Resumed:
    """Both strategies stand in queues of their own."""
    bench = in_folder(tmp_path_factory.mktemp("queue"))
    faults = {"serial": "queue", "pinned": "queue"}
    left = bench.kill_at("block 2: warm", *walks(bench, faults), faults=faults)
    began_ms = bench.began_ms(block=1)
    done = bench.restbench(*walks(bench, faults), "--resume", faults=faults)
    return Resumed(bench, done, left, began_ms)


def in_folder(folder: Path) -> Bench:
    (folder / "open.toml").write_text(OPEN_LOAD)
    return Bench(folder)


def walks(bench: Bench, faults: dict[str, str]) -> list[str]:
    file, cells = str(bench.folder / "open.toml"), f"strategy={','.join(faults)}"
    return ["run", file, "--profile", "p", "--cells", cells]


def run_walks(bench: Bench, faults: dict[str, str]) -> Ran:
    return Ran(bench, bench.restbench(*walks(bench, faults), faults=faults))


def found_in(run: Run) -> dict[str, Limit]:
    told = export.write(run, measures.rows(run), print)
    return {each.cell.strategy: each for each in limits.of(told)}


def test_finds_the_rate_that_a_queue_of_known_capacity_can_bear(queue: Resumed) -> None:
    assert queue.code == 0, queue.told
    for found in found_in(queue.run).values():
        # More than the capacity cannot be borne; how much less is seen depends on this machine.
        assert [each.block for each in found.walks] == [1, 2]
        assert found.failed_per_s is not None, queue.told
        assert (found.met_per_s or 0) < 1.15 * CAPACITY_PER_S
        assert found.interval is not None, queue.told
    assert queue.bench.left_running() == []


def test_the_steps_of_a_blocks_techniques_alternate(queue: Resumed) -> None:
    trials = queue.run.trials.trials()
    for block in (1, 2):
        first_round = [each.cell for each in trials if (each.block, each.round) == (block, 1)]
        assert len(first_round) == len(set(first_round)) == 2
        rounds = [each.round for each in trials if each.block == block]
        assert rounds == sorted(rounds)


def test_beyond_the_capacity_answers_come_at_the_capacity_and_the_rest_is_late_or_unsent(
    queue: Resumed,
) -> None:
    first = found_in(queue.run)["serial"].walks[0].steps[0]
    assert first.rate_per_s > 1.5 * CAPACITY_PER_S
    assert first.reasons
    # A second's answers, and at most those that a pause of the machine had kept back for it.
    assert first.achieved_per_s < 1.3 * CAPACITY_PER_S
    # Of a backlog that is long enough something of the window is sent late or not at all.
    assert first.late + first.unsent > 0


def test_the_tables_say_what_was_found_and_can_be_made_again(queue: Resumed) -> None:
    run = queue.run
    tables = (run.report_markdown, run.open_load_csv, run.open_load_steps_csv, run.report)
    first = [path.read_text() for path in tables]
    row = next(csv.DictReader(run.open_load_csv.read_text().splitlines()))
    assert row["failed_per_s"] == str(found_in(run)["serial"].failed_per_s)
    assert "Highest rate with p50 <= 60 ms" in queue.told
    for path in tables:
        path.unlink()
    assert restbench("report", str(run.path)).returncode == 0
    assert [path.read_text() for path in tables] == first


def test_a_wrong_answer_voids_the_walk_and_no_other(bench: Bench) -> None:
    ran = run_walks(bench, {"serial": "wrong-under-load", "pinned": "queue"})
    assert ran.code == 5, ran.told
    found = found_in(ran.run)
    assert found["serial"].limit_per_s is None
    assert "wrong-answers" in found["serial"].flags
    assert found["pinned"].limit_per_s is not None, ran.told


def test_what_dies_under_load_and_what_is_not_offered_fails_and_says_so(bench: Bench) -> None:
    ran = run_walks(bench, {"serial": "die", "pinned": "absent"})
    assert ran.code == 4, ran.told
    (line,) = [each for each in ran.told.splitlines() if "2 cells failed: " in each]
    assert "java-serial-unbound-tiny-16u" in line
    assert "java-pinned-unbound-tiny-16u" in line
    assert "java pinned: not offered" in ran.told
    found = found_in(ran.run)["serial"]
    events = "".join(each.text for each in ran.run.trials.events())
    assert "stub: out of memory, giving up" in events
    assert found.limit_per_s is None
    assert bench.left_running() == []


def test_a_killed_run_goes_on_with_the_block_that_was_in_flight(queue: Resumed) -> None:
    assert queue.left == []
    assert "going on with" in queue.told
    assert queue.bench.began_ms(block=1) == queue.began_ms != []


def test_the_plan_is_told_without_a_start(bench: Bench) -> None:
    done = restbench("plan", str(bench.folder / "open.toml"), "--profile", "p")
    assert "2 cells, 2 blocks" in done.stdout
    assert "java-pinned-unbound-tiny-16u" in done.stdout
