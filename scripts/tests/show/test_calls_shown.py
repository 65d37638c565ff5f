"""What is found of batches of calls: speed-ups, how near the limit, charts and tables."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from drawn import data_of

from restbench.analyse import calls, estimates
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.show.charts import theme
from restbench.show.document import Section, Table, words
from restbench.show.kinds import calls as shown
from restbench.store.trials import Block, Event, Trial


def row(
    level: str,
    threads: int,
    elapsed_s: list[float],
    limit_s: float,
    events: tuple[str, ...] = (),
    **more: float,
) -> Row:
    """A cell that was measured in a block for each time."""
    of = Cell(service="java", strategy="serial", complexity=level, users=threads)
    answers_us = np.array([100_000] * 10)
    usual = {"limit_s": limit_s, "alone_s": 10.0, **more}
    trials = [
        Trial(block, 1, of.id, threads, 0, seconds, answers_us, extras={**usual, **its})
        for block, seconds in enumerate(elapsed_s, 1)
        for its in [{"elapsed_s": seconds, "in_flight": 1 / seconds}]
    ]
    blocks = [Block(number, "now", "later", {}) for number in range(1, len(elapsed_s) + 1)]
    noted = [Event("now", kind, "why", 1, of.id) for kind in events]
    found = estimates.measurements(trials, noted, blocks, cores=2)
    return Row(of, None, (), tuple(found[of.id]))


ROWS = [
    row("java-rest-sequential-1000ms", 1, [100.0, 102.0], 100.0),
    row("java-rest-task-pool-1000ms", 8, [13.5, 13.2], 13.0),
    row("java-rest-async-1000ms", 8, [1.25, 1.3], 1.1),
    row("python-rest-async-1000ms", 1, [2.0, 2.5], 1.5),
]


def test_a_speed_up_is_over_calls_in_turn_of_the_same_client() -> None:
    assert calls.speed_ups(ROWS[1], ROWS) == pytest.approx([100 / 13.5, 102 / 13.2])
    assert calls.speed_ups(ROWS[1], ROWS, "limit_s") == pytest.approx([100 / 13, 102 / 13])
    assert calls.speed_ups(ROWS[3], ROWS) == [5.0, 4.0], "by what a call takes alone"
    failed = replace(ROWS[0], measurements=())
    assert calls.speed_ups(ROWS[1], [failed, ROWS[1]]) == pytest.approx([10 / 13.5, 10 / 13.2])
    assert calls.nearness(ROWS[2]) == pytest.approx((1.1 / 1.25 + 1.1 / 1.3) / 2)


def test_the_medians_are_over_as_many_blocks_as_the_cells_have() -> None:
    assert "a median over 2 blocks; ratios" in shown.sure(ROWS)
    more = row("java-rest-async-1000ms", 4, [1.0] * 5, 1.1)
    assert "a median over 2 to 5 blocks; ratios" in shown.sure([*ROWS, more])


def test_a_limit_that_was_mismeasured_and_a_time_that_is_scaled_are_noted_at_the_cell() -> None:
    for kind in ("limit-mismeasured", "scaled"):
        noted = row("java-rest-async-1000ms", 8, [1.0, 1.2], 1.1, (kind,))
        (table,) = shown.tables([noted])
        assert words(table.rows[0][-1]) == f"{kind} 1/2"
        assert (noted.measurements[0].reason, len(noted.measured)) == (None, 2)


def test_calls_in_flight_are_no_users() -> None:
    assert [
        each.kind for each in ROWS[2].warnings if "flight" in each.kind or "little" in each.kind
    ] == []


def test_the_chart_has_the_limit_dashed_and_the_study_as_a_mark() -> None:
    charts = {each.name: each for each in shown.charts(ROWS) if each}
    assert set(charts) == {"calls-java-rest", "calls-python-rest"}
    text = json.dumps(theme.spec(charts["calls-java-rest"]))
    records = data_of(charts["calls-java-rest"])
    assert {(each["series"], each["limit"]) for each in records} == {
        ("task-pool", False),
        ("task-pool", True),
        ("async", False),
        ("async", True),
        ("study", False),
    }
    (study,) = [each for each in records if each["series"] == "study"]
    assert (study["x"], study["y"]) == (5, 5.5)
    (short,) = filter(None, shown.charts([row("java-rest-async-100ms", 4, [1.0, 1.1], 1.1)]))
    told = ["Symbols of the study" in each.caption for each in (charts["calls-java-rest"], short)]
    assert told == [True, False], "it has no value at 100 ms"
    assert '"strokeDash": [5, 4]' in text
    assert theme.svg(charts["calls-java-rest"]).startswith("<svg")


def test_rest_stands_next_to_soap_stage_by_stage() -> None:
    stages = {"s_ms": 0.5, "c_ms": 2.0, "d_ms": 0.25, "p_ms": 0.25}
    in_turn = [
        row(f"{program}-sequential-0ms", 1, [1.0, 1.1], 1.0, **stages)
        for program in ("java-rest", "java-soap", "python-zeep")
    ]
    assert "calls-stages" not in {each.name for each in shown.charts(in_turn[:1]) if each}
    (chart,) = [each for each in shown.charts([*ROWS, *in_turn]) if each and "stages" in each.name]
    assert [(each["bar"], each["C"]) for each in data_of(chart)] == [
        ("Java rest: 3.00 ms", 2.0),
        ("Java soap: 3.00 ms", 2.0),
        ("Python zeep: 3.00 ms", 2.0),
    ]
    assert theme.svg(chart).startswith("<svg")


def test_the_tables_have_time_speed_up_limit_and_nearness() -> None:
    tables = shown.tables(ROWS)
    assert [each.caption for each in tables] == [
        "Java client, rest, 1000 ms",
        "Python client, rest, 1000 ms",
    ]


def test_the_sentence_has_the_largest_gain_and_what_is_lost_to_the_least_possible_time() -> None:
    assert shown.sentence(ROWS) == (
        "Concurrent calls are up to 79.2 times as fast as calls one after the other (Java async "
        "over REST, 8 threads, service waits 1000 ms). Half of the batches take at most "
        "1.16 times the least possible time; the slowest takes 1.48 times (Python async over REST, "
        "1 thread, service waits 1000 ms)."
    )
    soap = row("python-zeep-task-pool-0ms", 2, [4.0, 4.2], 2.0)
    assert "(Python task-pool over SOAP with zeep, 2 threads, service does not wait)" in (
        shown.sentence([soap])
    )


def test_the_study_s_gain_stands_next_to_that_of_the_limits_and_ours() -> None:
    pipeline = row("java-rest-pipeline-async-1000ms", 8, [1.25, 1.2], 1.04)
    table = shown.study([*ROWS, pipeline])
    assert [*map(words, *table.rows)] == ["java rest", "1000", "8", "1.10", "12.5", "10.9"]
    assert shown.study(ROWS).rows == ()


def test_the_study_s_faults_stand_below_its_gain() -> None:
    found: Any = SimpleNamespace(figures=lambda _: ())
    pipeline = row("java-rest-pipeline-async-1000ms", 8, [1.25, 1.2], 1.04)
    page = shown.page(found, [*ROWS, pipeline])
    without = shown.page(found, ROWS)
    assert page is not None
    assert without is not None
    gain, faults, *_ = page.parts
    assert isinstance(gain, Table)
    assert isinstance(faults, Section)
    assert "20 times as fast as a pool of 5 threads" in str(faults)
    assert "20 times as fast" not in str(without)
