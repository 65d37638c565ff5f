"""From the trials of an open load to the limit of each cell, and what is shown of it."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawn import data_of
from fixture_run import begun
from shown_run import page_of, part_of, picture_of

from restbench.analyse import limits, measures
from restbench.analyse.estimates import percentile_ms
from restbench.commands import measuring
from restbench.drive.generator import CORRECT, ERROR, RECORD, WRONG
from restbench.experiment import experiment
from restbench.experiment.cell import Cell
from restbench.experiment.open_load import Objective, OpenLoad, Phases
from restbench.experiment.statistics import geometric_interval
from restbench.failures import CellsFailed, WrongAnswers
from restbench.schedule.reduction import of_arrivals
from restbench.show import export, files
from restbench.show.charts import theme
from restbench.show.kinds import limits as shown
from restbench.store import store
from restbench.store.exported import RunExport
from restbench.store.store import Run
from restbench.store.trials import Event, Trial

CELL = Cell(service="java", strategy="serial", complexity="medium", users=64)
OTHER = CELL.model_copy(update={"strategy": "pinned"})
OBJECTIVE = Objective(percentile=95, limit_ms=100)


def trial(
    rate: float, elapsed_ms: float, block: int = 1, cell: Cell = CELL, **told: float
) -> Trial:
    """Ten seconds of answers that all took as long."""
    arrivals = round(10 * rate)
    answered = int(told.pop("answered", arrivals))
    extras = {
        "rate_per_s": rate,
        "achieved_per_s": rate,
        "arrivals": arrivals,
        "unsent": told.pop("unsent", 0),
        "late": told.pop("late", 0),
    }
    return Trial(
        block=block,
        round=1,
        cell=cell.id,
        users=64,
        began_ms=1_700_000_000_000,
        seconds=10.0,
        elapsed_us=np.full(answered, round(1000 * elapsed_ms), dtype=np.int64),
        errors=int(told.pop("errors", 0)),
        wrong=int(told.pop("wrong", 0)),
        generator_cpu_ms=1_200.0,
        extras=extras,
    )


def records(*rows: tuple[int, int, int, int]) -> np.ndarray:
    """Of `(intended ms, sent so many ms late, elapsed ms since the intended moment, outcome)`."""
    found = np.zeros(len(rows), dtype=RECORD)
    for place, (start_ms, late_ms, elapsed_ms, end) in enumerate(rows):
        found[place]["start_us"], found[place]["elapsed_us"] = 1000 * start_ms, 1000 * elapsed_ms
        found[place]["late_ms"], found[place]["outcome"] = late_ms, end
    return found


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Three blocks of a cell with limits between 200 and 240 a second."""
    cells = [(each, block) for block in (1, 2, 3) for each in (CELL, OTHER)]
    made = begun(tmp_path, store.experiment_file("open-load").read_text(), cells)
    for block, (met, failed) in enumerate([(200, 220), (210, 230), (220, 240)], start=1):
        made.trials.begin(block, "2026-11-24T01:00:00+00:00", {})
        made.trials.add([trial(met, 40, block), trial(failed, 130, block)])
        made.trials.finish(block, "2026-11-24T01:05:00+00:00")
    return made


def told_of(run: Run) -> RunExport:
    return export.write(run, measures.rows(run), print)


def load_of(told: RunExport) -> OpenLoad:
    load = experiment.parse(told.experiment.toml, Path("experiment.toml")).open
    assert load is not None
    return load


def found_in(run: Run) -> dict[str, limits.Limit]:
    return {each.cell.id: each for each in shown.of(told_of(run))}


def test_rule_9_latency_counts_from_the_intended_moment_of_the_windows_arrivals() -> None:
    sent = records((50, 0, 9, CORRECT), (100, 0, 5, CORRECT), (150, 300, 307, CORRECT))
    offsets = np.array([50, 100, 150, 199, 200])
    elapsed_us, found = of_arrivals(sent, offsets, Phases(0.1, 0.1, 0.1), late_ms=10)
    assert elapsed_us.tolist() == [5_000, 307_000]
    assert (found["arrivals"], found["unsent"], found["late"]) == (3, 1, 1)


def test_errors_and_wrong_answers_are_no_latency() -> None:
    sent = records((0, 0, 5, CORRECT), (1, 0, 1, ERROR), (2, 0, 1, WRONG))
    elapsed_us, found = of_arrivals(sent, np.array([0, 1, 2]), Phases(0, 1, 0), late_ms=10)
    assert elapsed_us.tolist() == [5_000]
    assert (found["errors"], found["unsent"]) == (2, 0)


def test_lateness_is_of_every_request_and_latency_from_sending_is_without_it() -> None:
    sent = records(*((at, at % 100, 20 + at % 100, CORRECT) for at in range(1000)))
    _, found = of_arrivals(sent, np.arange(1000), Phases(0, 1, 0), late_ms=10)
    assert (found["lateness_p95_ms"], found["sent_p95_ms"], found["late"]) == (94, 20, 890)


def test_an_arrival_without_a_correct_answer_is_slower_than_any_other() -> None:
    assert percentile_ms(trial(100, 40, answered=951).elapsed_us, 95, 1000) == 40
    assert percentile_ms(trial(100, 40, answered=949).elapsed_us, 95, 1000) == math.inf


def test_a_percentile_that_the_arrivals_do_not_support_is_none() -> None:
    assert percentile_ms(trial(99, 40).elapsed_us, 95, 990) is None
    step = limits.step(trial(99, 40), OBJECTIVE)
    assert step.reasons == ("990 arrivals are too few for p95",)


def test_a_step_is_held_against_the_objective_and_told_in_a_line() -> None:
    met = limits.step(trial(200, 40), OBJECTIVE)
    assert limits.progress_line(met, 95) == "    200/s      40 ms  met"
    slow = limits.step(trial(200, 130, unsent=3), OBJECTIVE)
    assert slow.reasons == ("3 of 2000 arrivals were not sent", "p95 130 > 100 ms")


def test_the_limit_is_the_geometric_mean_of_the_blocks_brackets_with_its_interval(run: Run) -> None:
    found = found_in(run)[CELL.id]
    middles = [math.sqrt(200 * 220), math.sqrt(210 * 230), math.sqrt(220 * 240)]
    expected = geometric_interval(middles)
    assert found.limits_per_s == pytest.approx(middles)
    assert found.interval is not None
    assert found.limit_per_s == pytest.approx(expected.estimate)
    assert (found.interval.low, found.interval.high) == (expected.low, expected.high)
    assert (found.met_per_s, found.failed_per_s) == (200, 240)
    assert found.met_latency_ms(95) == 40
    assert found.failed is not None
    assert found.failed.reasons == ("p95 130 > 100 ms",)


def test_the_page_and_the_tables_say_the_limit_and_every_step(run: Run) -> None:
    told, whole = told_of(run), page_of(run)
    assert picture_of(whole) == "open-load-limits"
    page = part_of(whole, "limits")
    assert "S serial medium 64 220 196 246 3 200 240 40.0 6" in page
    assert page.count(" met ") >= 3
    tables = shown.records(run, shown.of(told), load_of(told)).values()
    summary, steps = map(files.as_csv, tables)
    assert len(summary.splitlines()) == 3
    rows = list(csv.DictReader(steps.splitlines()))
    assert [(row["block"], row["step"], row["unsent"], row["p95_ms"]) for row in rows[:2]] == [
        ("1", "1", "0", "40.0"),
        ("1", "2", "0", "130.0"),
    ]


@pytest.mark.parametrize(
    ("steps", "note"),
    [
        ([(200, 130)], "never-met"),
        ([(200, 40)], "never-failed"),
        ([(200, 40), (260, 130)], "not-settled"),
        ([(200, 40), (210, 130)], "few-blocks"),
    ],
)
def test_what_is_to_be_known_of_a_limit_is_noted(steps: list[tuple[int, int]], note: str) -> None:
    trials = [trial(rate, elapsed) for rate, elapsed in steps]
    (found,) = limits.limits([CELL], [limits.step(each, OBJECTIVE) for each in trials], {})
    assert set(found.notes(0.1)) == {note, "few-blocks"}
    assert note in limits.NOTES


@pytest.mark.parametrize(("blocks", "has_interval"), [(2, False), (3, True)])
def test_a_limit_has_an_interval_from_three_blocks_on(blocks: int, *, has_interval: bool) -> None:
    walks = [(200 + block, 40.0, block) for block in range(1, blocks + 1)]
    walks += [(210 + block, 130.0, block) for block in range(1, blocks + 1)]
    steps = [limits.step(trial(*of), OBJECTIVE) for of in walks]
    found = limits.limits([CELL], steps, {})[0]
    assert len(found.limits_per_s) == blocks
    assert (found.interval is not None) == has_interval
    assert ("few-blocks" in found.notes(0.1)) != has_interval


def test_a_technique_that_met_it_at_any_rate_has_no_limit_and_is_no_failure(run: Run) -> None:
    run.trials.add(trial(240, 40, block, OTHER) for block in (1, 2, 3))
    told, both = told_of(run), found_in(run)
    load = load_of(told)
    assert shown.sentence([*both.values()], load).endswith(
        "]. java pinned met it at any rate that was offered."
    )
    met = shown.sentence([both[OTHER.id]], load)
    assert met == f"java pinned met {load.objective} at any rate that was offered."
    assert shown.sure([both[OTHER.id]]) == "No block found a limit, so there is no interval."


def test_no_technique_is_ranked_by_the_rates_that_its_walk_offered(run: Run) -> None:
    run.trials.add(trial(40, 40, block, OTHER) for block in (1, 2, 3))
    page = page_of(run)
    assert 'id="chart-open-load-limits"' in page
    assert "chart-overview" not in page
    assert 'id="places"' not in page
    assert "covers all offered rates" in part_of(page, "matrix")
    assert "closed loop: a user sends its next request" not in page
    assert "the latency of each counts from its scheduled moment" in page


def test_a_cell_that_failed_is_shown_with_its_reason_and_judged(run: Run) -> None:
    run.trials.note(Event("now", "failed", "it did not come up", 1, OTHER.id))
    found = found_in(run)[OTHER.id]
    assert (found.walks, found.flags) == ((), ("failed",))
    assert "it did not come up" in part_of(page_of(run), "limits")
    with pytest.raises(CellsFailed, match="java-pinned"):
        measuring.judge(measures.rows(run))


def test_a_wrong_answer_in_a_block_is_told_and_judged(run: Run) -> None:
    run.trials.add([trial(210, 40, 3, wrong=1)])
    run.trials.note(Event("now", "wrong", "1 answers were wrong in one trial", 3, CELL.id))
    assert "wrong-answers" in found_in(run)[CELL.id].flags
    with pytest.raises(WrongAnswers, match="java-serial"):
        measuring.judge(measures.rows(run))


def test_the_blocks_with_a_wrong_answer_say_nothing_of_the_limit(run: Run) -> None:
    run.trials.add([trial(500, 40, 3, wrong=1)])
    found = found_in(run)[CELL.id]
    assert [each.block for each in found.walks] == [1, 2]


def test_the_limits_of_earlier_blocks_say_where_a_walk_starts(run: Run) -> None:
    steps = [limits.step(each, OBJECTIVE) for each in run.trials.trials()]
    (found,) = limits.limits([CELL], steps, {})
    assert found.limit_per_s == pytest.approx(219.7, abs=0.1)


def test_the_figure_has_a_point_a_step_hollow_where_the_objective_is_not_met(run: Run) -> None:
    told = told_of(run)
    chart = shown.steps_chart(shown.of(told), OBJECTIVE)
    assert chart
    assert chart.name == "open-load"
    points = [(each["x"], each["y"], each["fill"]) for each in data_of(chart)]
    colour = theme.PALETTE[theme.STYLES[CELL.strategy]]
    assert points[:3] == [(200, 40.0, colour), (210, 40.0, colour), (220, 130.0, theme.PAPER)]
    assert "from the intended moment" in theme.svg(chart)


def test_each_limit_has_its_interval_over_blocks(run: Run) -> None:
    (entry,) = data_of(shown.limits_chart(shown.of(told_of(run)), OBJECTIVE))
    expected = found_in(run)[CELL.id].interval
    assert expected
    assert (entry["value"], entry["low"], entry["high"]) == pytest.approx(
        (expected.estimate, expected.low, expected.high), rel=1e-5
    )


def test_techniques_of_two_services_at_one_size_do_not_look_alike(run: Run) -> None:
    java = next(each for each in shown.of(told_of(run)) if each.cell == CELL)
    both = [java, replace(java, cell=CELL.model_copy(update={"service": "python"}))]
    for chart in (shown.limits_chart(both, OBJECTIVE), shown.steps_chart(both, OBJECTIVE)):
        assert chart and chart.series
        assert len({*chart.series.values()}) == 2


def test_limits_of_fewer_blocks_are_said_to_have_no_interval(run: Run) -> None:
    found = shown.of(told_of(run))
    whole = next(each for each in found if each.cell == CELL)
    fewer = replace(whole, walks=whole.walks[:2])
    assert shown.sure([whole]).endswith("over 3 blocks, with its 95 % interval in brackets.")
    assert shown.sure([whole, fewer]).endswith(
        "over 2 to 3 blocks, with its 95 % interval in brackets where there are 3 or more."
    )
    assert shown.sure([fewer]).startswith("Two blocks give no interval")


def test_without_a_step_there_is_no_figure() -> None:
    found = limits.limits([CELL], [], {})
    assert shown.steps_chart(found, OBJECTIVE) is None
    assert shown.limits_chart(found, OBJECTIVE) is None


def test_the_runs_file_has_the_limits_of_cells_and_blocks_and_every_step(run: Run) -> None:
    told = told_of(run)
    cell = next(each for each in told.cells if each.id == CELL.id)
    limit, expected = cell.extras["limit_per_s"], found_in(run)[CELL.id].interval
    assert expected is not None
    assert limit.value == pytest.approx(expected.estimate, rel=1e-5)
    assert (limit.low, limit.high) == pytest.approx((expected.low, expected.high), rel=1e-5)
    assert [each.extras["met_per_s"] for each in told.blocks] == [200, 210, 220]
    assert [(each.block, each.rate_per_s, each.met) for each in told.steps[:3]] == [
        (1, 200, True),
        (1, 220, False),
        (2, 210, True),
    ]
    assert told.steps[1].reasons == ("p95 130 > 100 ms",)


def test_a_percentile_without_an_answer_is_infinite_on_both_sides_of_the_file(run: Run) -> None:
    run.trials.begin(4, "2026-11-24T02:00:00+00:00", {})
    run.trials.add([trial(100, 40, 4, answered=900), trial(20, 40, 4)])
    run.trials.finish(4, "2026-11-24T02:05:00+00:00")
    missed, few = told_of(run).steps[-2:]
    assert (missed.p95_ms, limits.latency_ms(missed, 95)) == (None, math.inf)
    assert (few.p95_ms, limits.latency_ms(few, 95)) == (None, None)


def test_a_block_in_flight_has_no_step_and_no_limit_in_the_file(run: Run) -> None:
    run.trials.begin(4, "2026-11-24T02:00:00+00:00", {})
    run.trials.add([trial(500, 40, 4), trial(600, 130, 4)])
    told = told_of(run)
    assert {each.block for each in told.steps} == {1, 2, 3}
    assert [each.block for each in told.blocks if each.extras] == [1, 2, 3]
