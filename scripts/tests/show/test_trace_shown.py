"""Traces from the experiment's file to `run.json`, page and terminal."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fixture_run import cell
from shown_run import findings, page_of, part_of, picture_of, printed
from trial_run import EXPERIMENT, START_MS, build

from restbench.analyse.trace import entry
from restbench.experiment import experiment
from restbench.failures import BadConfiguration
from restbench.show.charts import theme
from restbench.show.document import words
from restbench.show.findings import Findings
from restbench.show.kinds import trace as shown
from restbench.store import store
from restbench.store.store import Run
from restbench.store.traces import Course, FaultEntry, FullTrace, IncidentEntry, SteadyEntry
from restbench.store.writing import write_model

WHICH = "java serial low 10"
SECONDS = 1800
TABLE = """
driver = "trace"
views = ["trace"]

[[trace.runs]]
duration_s = { quick = 1800 }
rate_per_s = 600

[[trace.claims]]
id = "M8"
text = "it is steady"
where = { users = 10 }
expect = "steady"
"""
DEFINITION = TABLE.strip().partition("\n\n")[0] + EXPERIMENT.replace(
    'claims = "claims.toml"\n', ""
).replace("[complexities]", TABLE.partition("\n\n")[2] + "\n[complexities]")


def samples() -> tuple[dict[str, Any], ...]:
    looks = [
        {
            "t_ms": START_MS + 1000 * at,
            "live_rows": 1000,
            "dead_rows": at % 300,
            "table_bytes": 2**20,
            "index_bytes": 2**19,
            "vacuums": at // 15,
            "wal_syncs": 300 * at,
            "wal_records": 900 * at,
            "oldest_snapshot_s": 0.1,
            "waits": {"CPU": 1, "LWLock:WALWrite": 2},
        }
        for at in range(0, SECONDS, 5)
    ]
    return (*looks, {"zone": "UTC", "bloat": {"dead_tuple_percent": 1.5}})


def traced(block: int = 1) -> FullTrace:
    per_s = [600 + 9 * math.sin(2.1 * s) for s in range(SECONDS)]
    per_s[700] = 10.0
    per_s[900] = 11.0
    incidents = [("checkpoint", 698, 701.5), ("gc-pause", 100, 100.02), ("autovacuum", 30, 30.3)]
    failed = [3.0 * (700 <= s < 730) for s in range(SECONDS)]
    values = {
        "throughput_per_s": per_s,
        "errors_of_014_per_s": failed,
        "mean_ms": [5.0] * SECONDS,
        "p50_ms": [4.0] * SECONDS,
    }
    return FullTrace(
        cell=cell(WHICH).id,
        block=block,
        began_ms=START_MS,
        seconds=SECONDS,
        rate_per_s=600,
        errors={"014": 90, "503": 3},
        courses=tuple(Course(column=c, step_s=1, values=tuple(v)) for c, v in values.items()),
        samples=samples(),
        incidents=tuple(IncidentEntry(kind=k, begin_s=a, end_s=b) for k, a, b in incidents),
    )


def laid_down(path: Path) -> Run:
    run = build(path, {WHICH: [600.0]}, experiment=DEFINITION)
    write_model(run.trace(1, cell(WHICH).id) / "trace.json", traced())
    return run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return laid_down(tmp_path / "run")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return findings(laid_down(tmp_path_factory.mktemp("trace") / "run"))


def test_the_most_errors_of_a_second_are_of_one_second_where_points_are_of_three(run: Run) -> None:
    burst = Course(
        column="errors_of_014_per_s", step_s=1, values=tuple(90.0 * (s == 700) for s in range(1800))
    )
    others = (each for each in traced().courses if each.column != burst.column)
    burst_told = traced().model_copy(update={"courses": (*others, burst)})
    write_model(run.trace(1, cell(WHICH).id) / "trace.json", burst_told)
    page = page_of(run)
    assert "Code Times Per second Most per second 014 90 0.050 90" in part_of(page, "trace-1")


def test_bands_reach_to_the_end_of_a_trace_one_a_point_of_the_figure() -> None:
    kept = [IncidentEntry(kind="gc-pause", begin_s=s, end_s=s + 0.02) for s in range(SECONDS)]
    told = entry(traced().model_copy(update={"incidents": (*kept, kept[-1])}))
    assert [each.begin_s // 3 for each in told.incidents] == list(range(600))
    assert told.counts[0].count == SECONDS + 1


def test_a_trace_of_a_block_that_is_not_finished_is_not_told(run: Run) -> None:
    write_model(run.trace(2, cell(WHICH).id) / "trace.json", traced(block=2))
    assert [each.block for each in findings(run).run.traces] == [1]


def test_rule_5_a_trace_with_a_wrong_answer_says_nothing(found: Findings) -> None:
    (row,) = found.rows
    (measured,) = row.measurements
    void = measured.model_copy(update={"flags": ("wrong-answers",)})
    assert shown.known(found)
    assert shown.known(replace(found, rows=(replace(row, measurements=(void,)),))) == []


def test_the_sentence_tells_verdicts_stalls_and_growth(found: Findings) -> None:
    said = shown.sentence(found)
    assert said.startswith(
        "Throughput of Java serial (10 users at 600 requests/s) was steady over 30 minutes: means "
        "of 10 s varied by "
    )
    assert said.endswith(
        ". 2 seconds stalled, 1 unexplained; the table of messages kept its size (+0 % in the last "
        "third)."
    )


def test_the_sentence_names_a_drift_by_its_ratio_and_a_table_that_grew(found: Findings) -> None:
    fell = SteadyEntry(verdict="drifting", cv=0.02, last_over_first=0.8, low=0.75, high=0.85)
    said = shown.sentence(told(found, response=fell, growth=1.345, stalls=()))
    assert " was drifting: last third over first 0.800 [0.750, 0.850]. No second stalled; " in said
    assert said.endswith("the table of messages grew (+34 % in the last third).")
    left = shown.sentence(told(found, throughput=None, growth=None, rows=(1000.0, 1300.0)))
    assert "was not judged over 30 minutes: too short, or a third without answers. " in left
    assert left.endswith("; the table of messages went from 1000 to 1300 rows.")


def told(found: Findings, **others: object) -> Findings:
    """The findings with other numbers of their only trace."""
    (entry,) = found.run.traces
    traces = (entry.model_copy(update=others),)
    return replace(found, run=found.run.model_copy(update={"traces": traces}))


def test_the_sentence_has_the_levels_that_tell_traces_apart(found: Findings) -> None:
    (entry,), (one,) = found.run.traces, found.rows
    other = replace(one, cell=cell("java serial medium 10"))
    traces = (entry, entry.model_copy(update={"cell": other.cell.id}))
    both = replace(found, rows=(one, other), run=found.run.model_copy(update={"traces": traces}))
    held = FaultEntry(
        kind="hold-snapshot", begin_s=1, end_s=9, before_per_s=600, during_per_s=60, dead_rows=9
    )
    went = "throughput steady, response time steady, 2 seconds stalled, 1 unexplained"
    load = "10 users at 600 requests/s)"
    assert shown.sentence(both) == (
        f"Java serial (low, {load} over 30 minutes: {went}. "
        f"Java serial (medium, {load} over 30 minutes: {went}."
    )
    traces = (traces[0].model_copy(update={"fault": held}), traces[1])
    controlled = replace(both, run=both.run.model_copy(update={"traces": traces}))
    assert shown.sentence(controlled) == (
        f"Java serial ({load} over 30 minutes: {went}. The control hold-snapshot of Java serial "
        f"({load} is seen: 600 requests/s before it, 60.0 in the last half of it."
    )


def test_traces_that_differ_in_a_setting_or_in_connections_have_names_of_their_own(
    found: Findings,
) -> None:
    (entry,) = found.run.traces
    plain = "java worker-pool 200 60 technique=skip-locked pool_threads=20"
    others = ("", " settings=RESTBENCH_MAX_IN_FLIGHT=4", " connections=5", " instances=2")
    cells = [cell(plain + each) for each in others]
    names = [shown.name_of(each, entry) for each in cells]
    assert names[0] == (
        "Java worker-pool, skip-locked, 20 threads, 200, 60 users at 600 requests/s"
    )
    assert names[1:] == [
        names[0].replace("threads,", f"threads, {each},")
        for each in ("RESTBENCH_MAX_IN_FLIGHT=4", "5 connections", "2 instances")
    ]
    one = cell("java worker-pool 200 60 technique=skip-locked pool_threads=1 connections=1")
    assert ", 1 thread, 1 connection, " in shown.name_of(one, entry)
    rows = tuple(replace(found.rows[0], cell=each) for each in cells[:2])
    traces = tuple(entry.model_copy(update={"cell": each.id}) for each in cells[:2])
    both = replace(found, rows=rows, run=found.run.model_copy(update={"traces": traces}))
    assert "Java worker-pool (RESTBENCH_MAX_IN_FLIGHT=4, 60 users at" in shown.sentence(both)


def test_a_kept_file_of_an_older_rule_gets_the_verdict_of_its_numbers(found: Findings) -> None:
    was = SteadyEntry(verdict="drifting", cv=0.086, last_over_first=0.919, low=0.815, high=1.044)
    old = told(found, response=was)
    said = shown.sentence(old)
    assert " was too imprecise (± 13.2 %): means of 10 s varied by 8.6 %. " in said
    (line,) = shown.claims(old).rows
    assert [words(each) for each in line][2:] == [
        "steady",
        "drift too imprecise (± 13.2 %)",
        "too-imprecise",
    ]


def test_a_control_is_told_by_what_it_did_alone(run: Run) -> None:
    held = IncidentEntry(kind="fault", begin_s=600, end_s=1200, text="hold-snapshot")
    slow = tuple(60.0 if 620 <= s < 1200 else 600.0 for s in range(SECONDS))
    control = traced().model_copy(
        update={
            "incidents": (held,),
            "courses": (
                Course(column="throughput_per_s", step_s=1, values=slow),
                Course(column="mean_ms", step_s=1, values=slow),
            ),
        }
    )
    write_model(run.trace(1, cell(WHICH).id) / "trace.json", control)
    assert shown.sentence(findings(run)) == (
        "The control hold-snapshot of Java serial (10 users at 600 requests/s), 600 to 1200 s of "
        "1800, is seen: 600 requests/s before it, 60.0 in the last half of it, with up to 295 dead "
        "rows."
    )


def test_page_and_terminal_show_it(run: Run) -> None:
    page, text = page_of(run), printed(run)
    part = part_of(page, "traces")
    assert "How did it go over time?" in part
    assert "M8 it is steady steady steady reproduced" in part
    assert picture_of(page) == f"trace-{cell(WHICH).id}"
    happened = part_of(page, "trace-1")
    assert "checkpoint 1 3.50 3.50" in happened
    assert "700 10.0 checkpoint 900 11.0 unexplained" in happened
    assert (
        "Errors by code Code Times Per second Most per second 014 90 0.050 3.00 503 3 0.002"
        in happened
    )
    assert "LWLock:WALWrite 2.00" in happened
    assert "pgstattuple dead_tuple_percent 1.50" in happened
    assert "was steady over 30 minutes" in " ".join(text.split())
    assert "reproduced" in text


def test_the_figure_has_a_panel_for_each_group_and_bands_for_what_happened(
    found: Findings,
) -> None:
    chart = next(iter(found.charts.values()))
    assert chart.name == f"trace-{cell(WHICH).id}"
    described = str(theme.spec(chart))
    assert len(chart.panels) == 8
    assert chart.caption.startswith(
        "Each point is over 3 s; Rows, Size, WAL, Oldest snapshot, Backends by wait over 5 s. "
    ), "of 1800 s in at most 600 points; the database is asked every 5 s"
    assert "errors of 014" in chart.series
    for band in ("checkpoint", "gc-pause", "autovacuum", "stall"):
        assert f"'band': '{band}'" in described
    assert theme.svg(chart).startswith("<svg")


def parsed(text: str) -> experiment.Experiment:
    return experiment.parse(text, Path("trace.toml"))


def test_every_profile_needs_a_length_of_each_cells_trace() -> None:
    with pytest.raises(BadConfiguration, match=r"duration_s of .* has no 'quick'"):
        parsed(DEFINITION.replace("quick = 1800", "smoke = 60"))


def test_a_cell_that_no_run_selects_is_told() -> None:
    with pytest.raises(BadConfiguration, match=r"trace\.runs: none selects cell"):
        parsed(DEFINITION.replace("[[trace.runs]]", "[[trace.runs]]\nwhere = { users = 10 }"))


def test_a_fault_needs_a_database_and_ends_after_it_began() -> None:
    fault = 'fault = { kind = "hold-snapshot", begin = 0.2, end = 0.1 }\nrate_per_s = 600'
    with pytest.raises(BadConfiguration, match="begin < end"):
        parsed(DEFINITION.replace("rate_per_s = 600", fault))
    with pytest.raises(BadConfiguration, match="has no database"):
        parsed(DEFINITION.replace("rate_per_s = 600", fault.replace("0.1", "0.3")))


def test_the_studys_traces_are_600_requests_a_second_and_have_a_control() -> None:
    found = experiment.load(store.experiment_file("messages-trace"))
    assert found.trace is not None
    runs = {each.id: found.trace.run_of(each) for each in found.all_cells()}
    assert [each.rate_per_s for each in runs.values()] == [600, 600, None]
    assert [each.fault is not None for each in runs.values()] == [False, False, True]
    for claim in found.trace.claims:
        assert sum(claim.where.matches(each) for each in found.all_cells()) == 1
