"""Whole open-load runs against a stub that takes one request after the other, 10 ms each."""

from __future__ import annotations

import csv
import json

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
#: Their requests stand in a queue each.
QUEUES = ("serial", "pinned")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Beside the queues a technique answers wrongly."""
    faults = dict.fromkeys(QUEUES, "queue") | {"pipeline": "wrong-under-load"}
    bench = Bench(tmp_path_factory.mktemp("open"))
    experiment = OPEN_LOAD.replace(json.dumps([*QUEUES]), json.dumps([*faults]))
    return bench.run_of(experiment, faults=faults)


def found_in(run: Run) -> dict[str, Limit]:
    told = export.write(run, measures.rows(run), print)
    return {each.cell.strategy: each for each in limits.of(told)}


def test_finds_the_rate_that_a_queue_of_known_capacity_can_bear(ran: Ran) -> None:
    known = found_in(ran.run)
    for found in (known[each] for each in QUEUES):
        # More than the capacity cannot be borne; how much less is seen depends on this machine.
        assert [each.block for each in found.walks] == [1, 2]
        assert found.failed_per_s is not None, ran.told
        assert (found.met_per_s or 0) < 1.15 * CAPACITY_PER_S
        assert found.interval is None  # of two blocks
    assert ran.bench.left_running() == []


def test_the_steps_of_a_blocks_techniques_alternate(ran: Ran) -> None:
    trials = ran.run.trials.trials()
    for block in (1, 2):
        first_round = [each.cell for each in trials if (each.block, each.round) == (block, 1)]
        assert len(first_round) == len(set(first_round)) == 3
        rounds = [each.round for each in trials if each.block == block]
        assert rounds == sorted(rounds)


def test_beyond_the_capacity_answers_come_at_the_capacity_and_the_rest_is_late_or_unsent(
    ran: Ran,
) -> None:
    # Twice what a pilot found: the pilot that no pause of the machine fell into.
    walks_of_all = [walk for found in found_in(ran.run).values() for walk in found.walks]
    first = max((walk.steps[0] for walk in walks_of_all), key=lambda step: step.rate_per_s)
    assert first.rate_per_s > 1.2 * CAPACITY_PER_S
    assert first.reasons
    # A second's answers, and at most those that a pause of the machine had kept back for it.
    assert first.achieved_per_s < 1.3 * CAPACITY_PER_S
    # Of a backlog that is long enough something of the window is sent late or not at all.
    assert first.late + first.unsent > 0


def test_the_tables_say_what_was_found_and_can_be_made_again(
    ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ran.run
    tables = (run.open_load_csv, run.open_load_steps_csv, run.report)
    first = [path.read_text() for path in tables]
    row = next(csv.DictReader(run.open_load_csv.read_text().splitlines()))
    assert row["failed_per_s"] == str(found_in(run)["serial"].failed_per_s)
    assert "Highest rate with p50 <= 60 ms" in ran.told
    for path in tables:
        path.unlink()
    monkeypatch.setattr(theme, "library", stub_cli.no_library)
    assert restbench("report", str(run.path)).returncode == 0
    assert [path.read_text() for path in tables] == first


def test_a_wrong_answer_voids_the_walk_and_no_other(ran: Ran) -> None:
    assert ran.code == 5, ran.told
    found = found_in(ran.run)
    assert found["pipeline"].limit_per_s is None
    assert "wrong-answers" in found["pipeline"].flags
    assert found["pinned"].limit_per_s is not None, ran.told
