"""A whole run with JMeter whose requests are a mix, against a stub."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from stub_bench import Bench, Ran

from restbench.analyse import measures
from restbench.analyse.measures import Row
from restbench.experiment.records import CellRun

pytestmark = pytest.mark.live

MIX = """
small = { rows = 3, inner = 3, columns = 3 }
[mixes]
both = { tiny = 0.75, small = 0.25 }
[profiles.p]
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One strategy that is right, and one that gives wrong answers now and then."""
    bench = Bench(tmp_path_factory.mktemp("mixed"))
    path = Path(bench.experiment({"java": ["serial", "pinned"]}))
    text = path.read_text().replace("[profiles.p]\n", MIX.lstrip("\n"), 1)
    text = text.replace("seed = 3", 'seed = 3\nclient = "streaming"')
    text = text.replace('complexity = "tiny"', 'complexity = ["tiny", "both"]')
    path.write_text(text + '\n[settings.java]\nSTUB_TOLD = "by the experiment"\n')
    faults = {"pinned": "wrong-under-load"}
    return Ran(bench, bench.restbench("run", str(path), "--profile", "p", faults=faults))


def record_of(ran: Ran, strategy: str, complexity: str) -> CellRun:
    (found,) = (
        each
        for each, _ in ran.bench.latest.cell_runs()
        if (each.cell.strategy, each.cell.complexity) == (strategy, complexity)
    )
    return found


def row_of(ran: Ran, complexity: str) -> Row:
    (found,) = (
        row
        for row in measures.rows(ran.bench.latest)
        if (row.cell.strategy, row.cell.complexity) == ("serial", complexity)
    )
    return found


def test_the_record_says_what_the_mix_is_of(ran: Ran) -> None:
    record = record_of(ran, "serial", "both")
    assert record.status == "measured", ran.done.stdout + ran.done.stderr
    assert record.shape is None
    assert [(kind.name, kind.share) for kind in record.mix] == [("tiny", 0.75), ("small", 0.25)]
    alone = record_of(ran, "serial", "tiny")
    assert alone.shape is not None
    assert alone.mix == ()


def test_the_samples_have_the_kinds_in_their_shares_and_each_is_counted_apart(ran: Ran) -> None:
    record = record_of(ran, "serial", "both")
    with ran.bench.latest.cell(1, record.cell.id).samples.open() as samples:
        kinds = Counter(line["kind"] for line in csv.DictReader(samples) if line["success"])
    assert set(kinds) == {"tiny", "small"}
    # Whole rounds of four are exact; a round has begun, and two users may be in flight.
    assert abs(kinds["tiny"] - 3 * kinds["small"]) <= 9
    (measured,) = row_of(ran, "both").measured
    parts = measured.kinds
    assert set(parts) == {"tiny", "small"}
    assert sum(part.samples for part in parts.values()) == measured.samples


def test_response_times_are_those_of_the_samplers_own_clock(ran: Ran) -> None:
    record, row = record_of(ran, "serial", "tiny"), row_of(ran, "tiny")
    assert record.window is not None
    window = range(record.window.start_ms, record.window.end_ms)
    with ran.bench.latest.cell(1, record.cell.id).samples.open() as samples:
        lines = [line for line in csv.DictReader(samples) if line["success"] == "true"]
    inside = [each for each in lines if int(each["timeStamp"]) + int(each["elapsed"]) in window]
    micros = [int(each["elapsed_us"]) for each in inside]
    assert row.value("mean_ms") == pytest.approx(sum(micros) / len(micros) / 1000)
    assert "coarse-clock" not in row.flags


def test_a_wrong_answer_of_a_mix_voids_its_cell(ran: Ran) -> None:
    assert ran.done.returncode == 5, ran.done.stdout + ran.done.stderr
    assert "java-pinned-unbound-both-2u" in ran.done.stderr


def test_the_service_is_started_with_the_experiments_settings(ran: Ran) -> None:
    (command,) = ran.bench.latest.path.glob("services/*/command.txt")
    assert "'STUB_TOLD=by the experiment'" in command.read_text()
