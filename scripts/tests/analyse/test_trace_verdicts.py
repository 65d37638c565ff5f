"""How a long load went, from courses that a test states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from fixture_run import cell

from restbench.analyse import trace
from restbench.experiment.trace import Trace
from restbench.judge import traces
from restbench.observe.incidents import Incident
from restbench.store.traces import MOST_POINTS, Course, FullTrace, IncidentEntry, SteadyEntry

BEGAN_MS = 1_795_225_867_500
TURNS = [5.0 if s % 20 < 10 else 9.0 for s in range(300)]
RISE = [5.0 + s / 30 for s in range(300)]
HALF_MINUTES = [4.8 if s % 60 < 30 else 5.2 for s in range(300)]


def around(center: float, seconds: int, spread: float = 0.02) -> list[float]:
    """Values that go round their mean in a few seconds."""
    return [center * (1 + spread * math.sin(2.1 * s)) for s in range(seconds)]


def traced(
    per_s: Sequence[float], mean_ms: Sequence[float | None] | None = None, **others: Any
) -> FullTrace:
    values = {"throughput_per_s": per_s, "mean_ms": mean_ms or around(5.0, len(per_s))}
    return FullTrace(
        cell="c",
        block=1,
        began_ms=BEGAN_MS,
        seconds=len(per_s),
        courses=tuple(Course(column=c, step_s=1, values=tuple(v)) for c, v in values.items()),
        **others,
    )


def sample(at_s: float, **others: Any) -> dict[str, Any]:
    return {"t_ms": round(BEGAN_MS + 1000 * at_s), "live_rows": 1000, **others}


def steadiness(values: Sequence[float]) -> SteadyEntry:
    found = trace.steadiness(values)
    assert found is not None
    return found


def claiming(*expected: str) -> Trace:
    """A table with a claim for each, of a trace of 300 s."""
    of = {"text": "", "where": {"users": 10}, "least_s": 300}
    claims = [{"id": f"M{n}", "expect": each, **of} for n, each in enumerate(expected, start=8)]
    return Trace.model_validate({"runs": [{"duration_s": {"p": 300}}], "claims": claims})


def test_a_load_that_goes_on_as_it_began_is_steady() -> None:
    found = trace.entry(traced(around(600, 300)))
    assert found.throughput is not None
    assert found.throughput.verdict == "steady"
    assert found.throughput.last_over_first == pytest.approx(1, abs=0.01)
    assert found.throughput.low is not None
    assert found.throughput.low < 1 < (found.throughput.high or 0)
    assert found.stalls == ()


def test_a_slow_decline_is_a_drift_with_its_size() -> None:
    decline = [600 - 0.4 * s for s in range(300)]
    found = steadiness(decline)
    assert found.verdict == "drifting"
    assert found.last_over_first == pytest.approx((600 - 0.4 * 249.5) / (600 - 0.4 * 49.5))
    assert (found.high or 1) < 1


def test_six_percent_less_at_the_end_is_a_drift_and_four_are_none() -> None:
    for less, verdict in ((0.06, "drifting"), (0.04, "steady")):
        found = steadiness([600.0] * 200 + [600 * (1 - less)] * 100)
        assert found.verdict == verdict


def test_slow_and_quick_tens_of_seconds_in_turn_oscillate() -> None:
    turns = [600.0 if (s // 10) % 2 else 450.0 for s in range(360)]
    found = steadiness(turns)
    assert found.verdict == "oscillating"
    assert found.cv == pytest.approx(75 / 525, rel=0.02)


def test_what_varies_within_ten_seconds_does_not_oscillate() -> None:
    found = steadiness([700.0 if s % 2 else 500.0 for s in range(300)])
    assert found.verdict == "steady"


def test_a_short_trace_has_no_interval_and_so_no_verdict_on_its_drift() -> None:
    found = steadiness(around(600, 40))
    assert (found.verdict, found.low, found.high) == ("too-imprecise", None, None)
    assert traces.imprecise([found]) == "too imprecise (no interval)"


@pytest.mark.parametrize(
    ("cv", "low", "high", "expected"),
    [
        (0.086, 0.815, 1.044, "too-imprecise"),
        (0.012, 0.964, 1.024, "steady"),
        (0.012, 0.949, 1.024, "too-imprecise"),
        (0.012, 0.98, 1.051, "too-imprecise"),
        (0.012, 0.91, 0.949, "drifting"),
        (0.3, 1.051, 1.2, "drifting"),
        (0.101, 0.99, 1.01, "oscillating"),
        (0.101, 0.815, 1.044, "oscillating"),
        (0.1, 0.95, 1.05, "steady"),
    ],
)
def test_the_whole_interval_decides_whether_a_load_drifts(
    cv: float, low: float, high: float, expected: str
) -> None:
    assert trace.verdict(cv, low, high) == expected


def test_an_interval_that_decides_nothing_is_told_with_its_half_width() -> None:
    entry = SteadyEntry(
        verdict="too-imprecise", cv=0.086, last_over_first=0.919, low=0.815, high=1.044
    )
    assert traces.imprecise([entry]) == "too imprecise (± 13.2 %)"


def test_a_trace_whose_end_has_no_answers_has_no_verdict_of_its_response_time() -> None:
    assert trace.steadiness([5.0] * 200 + [None] * 100) is None


def test_a_trace_without_further_answers_drifts_to_nothing_and_stalls_from_then_on() -> None:
    per_s, mean_ms = [600.0] * 120 + [0.0] * 180, [5.0] * 120 + [None] * 180
    found = trace.entry(traced(per_s, mean_ms))
    assert found.throughput is not None
    assert (found.throughput.verdict, found.throughput.last_over_first) == ("drifting", 0)
    assert found.throughput.half_width_pct is None
    assert [each.second for each in found.stalls] == list(range(120, 300))
    assert found.response is None
    which = cell("java serial low 10")
    (said,) = traces.claims(claiming("steady"), {which.id: found}, [which])
    assert (said.found, said.verdict) == ("drifting and oscillating", "contradicted")


def test_a_look_of_before_the_users_changes_nothing() -> None:
    looks = [
        sample(s, table_bytes=9 + s, wal_syncs=s, waits={"LWLock:WALWrite": 2})
        for s in range(0, 300, 5)
    ]
    before = sample(-60, table_bytes=9, wal_syncs=0, live_rows=7, waits={"Lock:tuple": 4})
    one, other = (
        trace.entry(traced(around(600, 300), samples=tuple(of))) for of in (looks, [before, *looks])
    )
    assert one == other
    assert one.totals["wal_syncs_per_operation"] == pytest.approx(1 / 600, rel=0.01)


def test_a_stall_is_a_second_below_a_fifth_of_the_median_with_what_overlaps_it() -> None:
    per_s = around(600, 300)
    per_s[100] = per_s[200] = 119.0
    per_s[250] = 125.0
    checkpoint = IncidentEntry(kind="checkpoint", begin_s=99.2, end_s=100.4)
    pause = IncidentEntry(kind="gc-pause", begin_s=101.0, end_s=101.1)
    found = trace.entry(traced(per_s, incidents=(checkpoint, pause))).stalls
    assert [(each.second, each.because) for each in found] == [(100, ("checkpoint",)), (200, ())]


def test_growth_is_the_last_third_of_the_tables_bytes_over_the_second() -> None:
    samples = [sample(s, table_bytes=10 + s // 100) for s in range(0, 300, 5)]
    found = trace.entry(traced(around(600, 300), samples=tuple(samples)))
    assert found.growth == pytest.approx(12 / 11)


def test_a_load_that_leaves_messages_has_rows_and_no_growth() -> None:
    samples = [sample(s, table_bytes=s, live_rows=1000 + s) for s in range(0, 300, 5)]
    one = traced(around(600, 300), samples=tuple(samples), keeps_population=False)
    found = trace.entry(one)
    assert found.growth is None
    assert found.rows == (1000, 1295)


def test_a_fault_is_told_by_throughput_before_it_and_in_its_last_half() -> None:
    per_s = [600.0] * 100 + [300.0] * 50 + [60.0] * 50 + [600.0] * 100
    held = IncidentEntry(kind="fault", begin_s=100, end_s=200, text="hold-snapshot")
    samples = [sample(s, dead_rows=200 * max(0, s - 100)) for s in range(0, 300, 5)]
    found = trace.entry(traced(per_s, incidents=(held,), samples=tuple(samples))).fault
    assert found is not None
    assert (found.before_per_s, found.during_per_s) == (600, 60)
    assert found.dead_rows == 200 * 105
    assert found.during_per_s < trace.FAULT_SEEN * found.before_per_s


def test_a_course_has_no_more_points_than_a_file_may_and_keeps_its_mean() -> None:
    long = Course(column="throughput_per_s", step_s=1, values=tuple(map(float, range(1800))))
    found = trace.joined(long)
    assert (len(found.values), found.step_s) == (MOST_POINTS, 3)
    assert found.values[0] == 1
    assert np.mean(found.values) == pytest.approx(899.5)


def test_requests_become_seconds_by_their_ends() -> None:
    ends_us = np.array([-1, 0, 999_999, 1_000_000, 1_500_000, 3_000_000, 500_000])
    elapsed_us = np.array([9000, 1000, 3000, 5000, 7000, 9000, 9000])
    codes = np.array(["", "", "", "", "015", "015", "014"])
    stages = {"database": np.array([9, 1, np.nan, 2, 9, 9, 9.0])}
    found = {
        each.column: each.values
        for each in trace.courses(ends_us, elapsed_us, codes, stages, seconds=3)
    }
    assert found["throughput_per_s"] == (2, 1, 0)
    assert found["errors_per_s"] == (1, 1, 0)
    assert found["errors_of_014_per_s"] == (1, 0, 0)
    assert found["errors_of_015_per_s"] == (0, 1, 0)
    assert found["mean_ms"] == (2, 5, None)
    assert found["p50_ms"] == (1, None, None)
    assert found["database_ms"] == (1, 2, None)


def test_percentiles_are_the_nearest_rank_of_their_own_step() -> None:
    elapsed_us = np.tile(1000 * np.arange(1, 101), 2)
    ends_us = np.repeat([500_000, 1_500_000], 100)
    right = np.full(200, "")
    found = {each.column: each for each in trace.courses(ends_us, elapsed_us, right, {}, seconds=2)}
    assert found["p50_ms"].values == (50, 50)
    assert found["p95_ms"].values == (95, 95)
    assert (found["p99_ms"].values, found["p99_ms"].step_s) == ((99,), 10)


def test_what_the_database_said_lies_on_a_grid_with_its_gaps() -> None:
    counted = [(0, 0), (5, 50), (15, 100)]
    samples = [
        sample(s, dead_rows=s, wal_syncs=n, waits={"LWLock:WALWrite": 2}) for s, n in counted
    ]
    one = trace.entry(traced(around(600, 30), samples=tuple(samples)))
    found = {each.column: each for each in one.series}
    assert found["dead_rows"].values[:4] == (0, 5, None, 15)
    assert found["wal_syncs_per_s"].values[:4] == (None, 10, None, 5)
    assert one.waits == {"LWLock:WALWrite": 2}
    assert one.totals == {
        "wal_syncs": 100,
        "wal_syncs_per_operation": pytest.approx(100 / (15 * 600), rel=0.01),
    }
    assert "table_mib" not in found, "what no sample says has no course"


def test_incidents_of_before_and_after_a_trace_are_not_its() -> None:
    began_s = BEGAN_MS / 1000
    spans = [(-9, -8), (-1, 1), (299, 400), (300.5, 301)]
    incidents = [Incident("checkpoint", began_s + a, began_s + b) for a, b in spans]
    found = trace.entries_of(incidents, BEGAN_MS, 300)
    assert [(each.begin_s, each.end_s) for each in found] == [(-1, 1), (299, 400)]


@pytest.mark.parametrize(
    ("mean_ms", "found", "verdicts"),
    [
        (around(5, 300), "steady", ["reproduced", "contradicted"]),
        (TURNS, "oscillating", ["contradicted", "reproduced"]),
        (RISE, "drifting and oscillating", ["contradicted", "reproduced"]),
        (HALF_MINUTES, "drift too imprecise (± ", ["too-imprecise", "contradicted"]),
    ],
)
def test_a_claim_of_a_cells_course_is_decided_by_throughput_and_response_time(
    mean_ms: list[float], found: str, verdicts: list[str]
) -> None:
    which, table = cell("java serial low 10"), claiming("steady", "oscillating")
    entry = trace.entry(traced(around(600, 300), mean_ms))
    said = traces.claims(table, {which.id: entry}, [which])
    assert all(each.found.startswith(found) for each in said)
    assert [each.verdict for each in said] == verdicts
    short = trace.entry(traced(around(600, 299), mean_ms[:299]))
    for nothing in ({}, {which.id: short}):
        said = traces.claims(table, nothing, [which])
        assert [each.verdict for each in said] == ["not-measured"] * 2
