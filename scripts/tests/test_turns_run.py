"""A whole run with JMeter whose strategies take turns at one load, against a stub."""

from __future__ import annotations

import csv
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from stub_bench import Bench, Ran

from restbench.analyse import measures
from restbench.analyse.measures import Row
from restbench.drive import turns
from restbench.experiment.records import CellRun
from restbench.store.cell_folder import CellFolder

pytestmark = pytest.mark.live

STRATEGIES = ["serial", "pinned", "adaptive"]
TURN_S, MEASURED_S = 0.25, 1.0


def experiment(bench: Bench) -> str:
    path = Path(bench.experiment({"java": STRATEGIES}))
    text = path.read_text().replace("seed = 3", 'seed = 3\nclient = "streaming"')
    rule = f'turns = [{{ complexity = "tiny", turn_s = {TURN_S}, measured_s = {MEASURED_S} }}]'
    path.write_text(text.replace("blocks = 1", f"blocks = 2\n{rule}"))
    return str(path)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    bench = Bench(tmp_path_factory.mktemp("turns"))
    return Ran(bench, bench.restbench("run", experiment(bench), "--profile", "p"))


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One strategy gives wrong answers now and then."""
    bench = Bench(tmp_path_factory.mktemp("wrong"))
    faults = {"pinned": "wrong-under-load"}
    return Ran(bench, bench.restbench("run", experiment(bench), "--profile", "p", faults=faults))


def records(ran: Ran, block: int) -> dict[str, tuple[CellRun, CellFolder]]:
    return {
        each.cell.strategy: (each, folder)
        for each, folder in ran.bench.latest.cell_runs()
        if each.block == block
    }


def rows(ran: Ran) -> dict[str, Row]:
    return {row.cell.strategy: row for row in measures.rows(ran.bench.latest)}


def test_every_strategy_of_the_load_has_a_record_of_its_own(ran: Ran) -> None:
    assert ran.done.returncode == 0, ran.done.stdout + ran.done.stderr
    for block in (1, 2):
        found = records(ran, block)
        assert set(found) == set(STRATEGIES)
        assert {record.status for record, _ in found.values()} == {"measured"}
        assert len({record.load_pid for record, _ in found.values()}) == 1


def test_their_windows_lie_in_one_another_and_never_meet(ran: Ran) -> None:
    found = [record.window for record, _ in records(ran, 1).values()]
    every = sorted(
        (*part, number) for number, window in enumerate(found) if window for part in window.parts
    )
    assert all(before[1] <= after[0] for before, after in pairwise(every))
    changes = [number for number, _ in groupby(each[2] for each in every)]
    assert len(changes) > 2 * len(found)
    for window in found:
        assert window is not None
        assert window.seconds >= MEASURED_S
        assert len(window.turns) >= MEASURED_S / TURN_S


def test_each_cell_has_its_own_samples_and_the_common_log_is_gone(ran: Ran) -> None:
    for strategy, (_, folder) in records(ran, 1).items():
        with folder.samples.open() as samples:
            assert {line["label"] for line in csv.DictReader(samples)} == {strategy}
        assert not folder.common_load.samples.exists()
    kept = [folder.common_load.turns for _, folder in records(ran, 1).values()]
    (written,) = [path for path in kept if path.exists()]
    assert len(turns.read(written)) >= 3 * MEASURED_S / TURN_S


def test_a_rows_numbers_are_of_the_turns_alone(ran: Ran) -> None:
    row = rows(ran)["serial"]
    for measured in row.measured:
        assert measured.window is not None
        assert measured.samples is not None
        rate = measured.samples / measured.window.seconds
        assert measured.throughput_per_s == pytest.approx(rate)
    assert row.value("cpu_ms_per_request") is not None
    assert row.value("load_cpu_pct") is not None
    # What collectors tell by the second would be of all strategies.
    assert row.value("machine_cpu_pct") is None


def test_nothing_is_said_against_a_load_that_was_as_it_should_be(ran: Ran) -> None:
    known = {"shared-cores", "generator-busy", "foreign-load", "foreign-load-before", "steal"}
    for row in rows(ran).values():
        assert set(row.flags) <= known | {"capped", "generator-time"}, row.flags


def test_the_strategy_that_chooses_is_compared_block_by_block(ran: Ran) -> None:
    with ran.bench.latest.regret_csv.open() as lines:
        (told,) = [each for each in csv.DictReader(lines) if each["metric"] == "throughput_per_s"]
    assert told["blocks"] == "2"
    assert float(told["share_low"]) < float(told["share"]) < float(told["share_high"])


def test_the_tables_and_the_page_say_how_it_was_measured(ran: Ran) -> None:
    for path in (ran.bench.latest.test_matrix_markdown, ran.bench.latest.report):
        assert "took turns at one load" in path.read_text()


def test_a_wrong_answer_voids_its_own_cell_and_no_other(wrong: Ran) -> None:
    assert wrong.done.returncode == 5, wrong.done.stdout + wrong.done.stderr
    found = rows(wrong)
    assert "wrong-answers" in found["pinned"].flags
    assert found["pinned"].value("throughput_per_s") is None
    assert "wrong-answers" not in found["serial"].flags
    assert found["serial"].value("throughput_per_s") is not None
