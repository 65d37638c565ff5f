"""Whole open-load runs against a stub that takes one request after the other, 10 ms each."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import stub_cli
from command_line import restbench
from experiment_file import OPEN_LOAD
from stub_bench import Bench, Ran

from restbench.analyse import measures
from restbench.analyse.limits import Limit
from restbench.show import export
from restbench.show.charts import theme
from restbench.show.kinds import limits
from restbench.store.store import Run

pytestmark = pytest.mark.live

CAPACITY_PER_S = 100


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Both strategies stand in queues of their own."""
    bench = in_folder(tmp_path_factory.mktemp("queue"), OPEN_LOAD)
    faults = {"serial": "queue", "pinned": "queue"}
    return Ran(bench, bench.restbench(*walks(bench), faults=faults))


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One block of a queue, a wrong answer, a service that dies and what is not offered."""
    faults = {"serial": "wrong-under-load", "pinned": "queue"}
    faults |= {"thread-pool": "die", "pipeline": "absent"}
    text = OPEN_LOAD.replace('["serial", "pinned"]', json.dumps([*faults]))
    text = text.replace("blocks = 2", "blocks = 1").replace("minutes = 1.5", "minutes = 1")
    bench = in_folder(tmp_path_factory.mktemp("spoilt"), text)
    return Ran(bench, bench.restbench(*walks(bench), faults=faults))


def in_folder(folder: Path, text: str) -> Bench:
    (folder / "open.toml").write_text(text)
    return Bench(folder)


def walks(bench: Bench) -> list[str]:
    return ["run", str(bench.folder / "open.toml"), "--profile", "p"]


def found_in(run: Run) -> dict[str, Limit]:
    told = export.write(run, measures.rows(run), print)
    return {each.cell.strategy: each for each in limits.of(told)}


def test_finds_the_rate_that_a_queue_of_known_capacity_can_bear(queue: Ran) -> None:
    assert queue.code == 0, queue.told
    for found in found_in(queue.run).values():
        # More than the capacity cannot be borne; how much less is seen depends on this machine.
        assert [each.block for each in found.walks] == [1, 2]
        assert found.failed_per_s is not None, queue.told
        assert (found.met_per_s or 0) < 1.15 * CAPACITY_PER_S
        assert found.interval is None  # of two blocks
    assert queue.bench.left_running() == []


def test_the_steps_of_a_blocks_techniques_alternate(queue: Ran) -> None:
    trials = queue.run.trials.trials()
    for block in (1, 2):
        first_round = [each.cell for each in trials if (each.block, each.round) == (block, 1)]
        assert len(first_round) == len(set(first_round)) == 2
        rounds = [each.round for each in trials if each.block == block]
        assert rounds == sorted(rounds)


def test_beyond_the_capacity_answers_come_at_the_capacity_and_the_rest_is_late_or_unsent(
    queue: Ran,
) -> None:
    # Twice what a pilot found: the pilot that no pause of the machine fell into.
    walks_of_all = [walk for found in found_in(queue.run).values() for walk in found.walks]
    first = max((walk.steps[0] for walk in walks_of_all), key=lambda step: step.rate_per_s)
    assert first.rate_per_s > 1.2 * CAPACITY_PER_S
    assert first.reasons
    # A second's answers, and at most those that a pause of the machine had kept back for it.
    assert first.achieved_per_s < 1.3 * CAPACITY_PER_S
    # Of a backlog that is long enough something of the window is sent late or not at all.
    assert first.late + first.unsent > 0


def test_the_tables_say_what_was_found_and_can_be_made_again(
    queue: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = queue.run
    tables = (run.open_load_csv, run.open_load_steps_csv, run.report)
    first = [path.read_text() for path in tables]
    row = next(csv.DictReader(run.open_load_csv.read_text().splitlines()))
    assert row["failed_per_s"] == str(found_in(run)["serial"].failed_per_s)
    assert "Highest rate with p50 <= 60 ms" in queue.told
    for path in tables:
        path.unlink()
    monkeypatch.setattr(theme, "library", stub_cli.no_library)
    assert restbench("report", str(run.path)).returncode == 0
    assert [path.read_text() for path in tables] == first


def test_a_wrong_answer_voids_the_walk_and_no_other(spoilt: Ran) -> None:
    assert spoilt.code == 5, spoilt.told
    found = found_in(spoilt.run)
    assert found["serial"].limit_per_s is None
    assert "wrong-answers" in found["serial"].flags
    assert found["pinned"].limit_per_s is not None, spoilt.told


def test_what_dies_under_load_and_what_is_not_offered_fails_and_says_so(spoilt: Ran) -> None:
    (line,) = [each for each in spoilt.told.splitlines() if "2 cells failed: " in each]
    assert "java-thread-pool-unbound-tiny-16u" in line
    assert "java-pipeline-unbound-tiny-16u" in line
    assert "java pipeline: not offered" in spoilt.told
    events = "".join(each.text for each in spoilt.run.trials.events())
    assert "stub: out of memory, giving up" in events
    assert found_in(spoilt.run)["thread-pool"].limit_per_s is None
    assert spoilt.bench.left_running() == []
