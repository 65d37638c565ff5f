"""How a long load went: its course second by second, and verdicts on it, whose meanings are in
`docs/bottlenecks.md`. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median, stdev
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from restbench.analyse.estimates import percentile_ms
from restbench.experiment.statistics import log_welch_ratio
from restbench.grouping import grouped
from restbench.observe.incidents import Incident
from restbench.store.traces import (
    BY_CODE,
    LOOK_EVERY_S,
    MOST_POINTS,
    CountEntry,
    Course,
    CourseVerdict,
    FaultEntry,
    FullTrace,
    IncidentEntry,
    JoinedCourse,
    StallEntry,
    SteadyEntry,
    TraceEntry,
    TraceRecord,
)

Numbers: TypeAlias = npt.NDArray[Any]

PART_S, BATCH_S = 10, 30
MOST_CV, MOST_DRIFT = 0.10, 0.05
STALLED, MOST_GROWTH = 0.2, 1.2
#: A fault counts as seen where the throughput falls below this part of that before it.
FAULT_SEEN = 0.5
#: The completions that a step needs for a percentile: enough for one to lie beyond it.
_NEEDED: Mapping[float, int] = {50: 2, 95: 20, 99: 100}
_LONG_STEP_S = 10
_MOST_WAITS = 4
#: The values of a sample that are shown unchanged: the column, and the factor of its unit.
_LEVELS = {
    "live_rows": ("live_rows", 1.0),
    "dead_rows": ("dead_rows", 1.0),
    "table_bytes": ("table_mib", 2**-20),
    "index_bytes": ("index_mib", 2**-20),
    "oldest_snapshot_s": ("oldest_snapshot_s", 1.0),
}
#: The counts of a sample that are shown as rates: the column.
_RATES = {"wal_records": "wal_records_per_s", "wal_syncs": "wal_syncs_per_s"}
_TOTALS = ("vacuums", "analyzes", "checkpoints", "wal_records", "wal_syncs", "wal_sync_ms")


def courses(
    ends_us: Numbers,
    elapsed_us: Numbers,
    codes: npt.NDArray[np.str_],
    stages_ms: Mapping[str, Numbers],
    seconds: int,
) -> list[Course]:
    """The courses of requests that ended `ends_us` after the begin, with a value per second, p99
    every 10 s. Mean, percentiles and stages are of the correct ones (those without a code)."""
    at = ends_us // 1_000_000
    inside = (at >= 0) & (at < seconds)
    right, wrong = inside & (codes == ""), inside & (codes != "")
    found = [
        course_of("throughput_per_s", np.bincount(at[right], minlength=seconds)),
        course_of("errors_per_s", np.bincount(at[wrong], minlength=seconds)),
    ]
    for code in np.unique(codes[wrong]).tolist():
        failed = np.bincount(at[inside & (codes == code)], minlength=seconds)
        found.append(course_of(f"{BY_CODE}{code}_per_s", failed))
    found.append(means_of("mean_ms", at[right], elapsed_us[right] / 1000, seconds))
    for percent, step_s in ((50, 1), (95, 1), (99, _LONG_STEP_S)):
        found.append(_percentiles(percent, step_s, at[right], elapsed_us[right], seconds))
    for name, values in stages_ms.items():
        reported = right & ~np.isnan(values)
        if reported.any():
            found.append(means_of(f"{name}_ms", at[reported], values[reported], seconds))
    return found


def course_of(column: str, values: Iterable[float | None], step_s: float = 1.0) -> Course:
    """A course in five significant digits: no step is known more precisely."""
    shown = (None if each is None else float(f"{each:.5g}") for each in values)
    return Course(column=column, step_s=step_s, values=tuple(shown))


def means_of(column: str, at: Numbers, values: Numbers, steps: int, step_s: float = 1.0) -> Course:
    """The mean of the values in each step; `at` has the number of the step of each value."""
    counts = np.bincount(at, minlength=steps)
    sums = np.bincount(at, weights=values, minlength=steps)
    found = (s / n if n else None for s, n in zip(sums, counts, strict=True))
    return course_of(column, found, step_s)


def _percentiles(
    percent: int, step_s: int, at: Numbers, elapsed_us: Numbers, seconds: int
) -> Course:
    steps, step = -(-seconds // step_s), at // step_s
    ends = np.cumsum(np.bincount(step, minlength=steps))
    by_step = np.split(elapsed_us[np.lexsort((elapsed_us, step))], ends[:-1])
    values = [percentile_ms(each, percent, needed=_NEEDED) for each in by_step]
    return course_of(f"p{percent}_ms", values, step_s)


def entry(traced: FullTrace) -> TraceEntry:
    """The entry of a trace: its verdicts, stalls, incidents, totals and courses."""
    column = {each.column: each.values for each in traced.courses}
    per_s = [each or 0.0 for each in column["throughput_per_s"]]
    # The monitor begins before the users do.
    seen = [each for each in traced.samples if each.get("t_ms", 0) >= traced.began_ms]
    waits = _waits(seen)
    kinds = grouped(traced.incidents, lambda each: each.kind)
    return TraceEntry(
        **traced.model_dump(include={*TraceRecord.model_fields}),
        most_errors_per_s={
            each.column.removeprefix(BY_CODE).removesuffix("_per_s"): max(filter(None, each.values))
            for each in traced.courses
            if each.column.startswith(BY_CODE) and any(each.values)
        },
        throughput=steadiness(per_s),
        response=steadiness(column["mean_ms"]),
        stalls=tuple(stalls(per_s, traced.incidents)),
        growth=_growth(traced, seen) if traced.keeps_population else None,
        rows=(seen[0]["live_rows"], seen[-1]["live_rows"]) if _have(seen, "live_rows") else None,
        fault=_fault(kinds["fault"][0], per_s, traced, seen) if "fault" in kinds else None,
        counts=tuple(_counts(kinds)),
        incidents=tuple(_bands(kinds, traced.seconds)),
        waits=waits,
        bloat=next((each["bloat"] for each in traced.samples if "bloat" in each), {}),
        totals=_totals(seen, fmean(per_s)),
        series=tuple(map(joined, [*traced.courses, *_of_database(traced, seen, waits)])),
    )


def steadiness(values: Sequence[float | None]) -> SteadyEntry | None:
    """The steadiness of a course with a value per second. None where the first or the last third
    has no value, the first is all 0, or the whole is shorter than three parts of 10 s. Where the
    last third is all 0, both ends of the interval are 0."""
    parts, third = _batches(values, PART_S), len(values) // 3
    first, last = values[:third], values[len(values) - third :]
    begin, end = map(_mean, (first, last))
    if len(parts) < 3 or not begin or end is None:
        return None
    cv, ratio = stdev(parts) / fmean(parts), end / begin
    ends, begins = _batches(last, BATCH_S), _batches(first, BATCH_S)
    known = min(len(ends), len(begins)) > 1 and min(*ends, *begins) > 0
    interval = log_welch_ratio(ends, begins) if known else None
    low, high = (interval.low, interval.high) if interval else (None, None) if end else (0.0, 0.0)
    return SteadyEntry(
        verdict=verdict(cv, low, high), cv=cv, last_over_first=ratio, low=low, high=high
    )


def verdict(cv: float, low: float | None, high: float | None) -> CourseVerdict:
    """The verdict by the coefficient of variation, and by the ends of the interval of the last
    third over the first; None without an interval."""
    course = drift(low, high)
    return "oscillating" if cv > MOST_CV and course != "drifting" else course


def drift(low: float | None, high: float | None) -> Literal["drifting", "steady", "too-imprecise"]:
    """The verdict by the ends of that interval alone."""
    if low is None or high is None:
        return "too-imprecise"
    least, most = 1 - MOST_DRIFT, 1 + MOST_DRIFT
    if high < least or low > most:
        return "drifting"
    return "steady" if least <= low and high <= most else "too-imprecise"


def _batches(values: Sequence[float | None], seconds: int) -> list[float]:
    """The means of parts of so many seconds each; an incomplete last part is left out."""
    whole = len(values) // seconds * seconds
    means = [_mean(values[at : at + seconds]) for at in range(0, whole, seconds)]
    return [each for each in means if each is not None]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return fmean(known) if known else None


def stalls(per_s: Sequence[float], incidents: Sequence[IncidentEntry]) -> list[StallEntry]:
    """The seconds below a fifth of the median, or without an answer, each with its incidents."""
    limit = STALLED * median(per_s)
    return [
        StallEntry(
            second=second,
            per_s=value,
            because=tuple(
                dict.fromkeys(
                    each.kind
                    for each in incidents
                    if each.begin_s < second + 1 and each.end_s >= second
                )
            ),
        )
        for second, value in enumerate(per_s)
        if value < limit or not value
    ]


def joined(course: Course) -> JoinedCourse:
    """The course in at most MOST_POINTS steps, each the mean of the steps that it joins."""
    wide = -(-len(course.values) // MOST_POINTS)
    parts = [course.values[at : at + wide] for at in range(0, len(course.values), wide)]
    made = course_of(course.column, map(_mean, parts), course.step_s * wide)
    return JoinedCourse(**made.model_dump())


def entries_of(incidents: Iterable[Incident], began_ms: int, seconds: int) -> list[IncidentEntry]:
    """The incidents that overlap a trace, in seconds since the trace's begin."""
    began_s = began_ms / 1000
    found = [
        IncidentEntry(
            kind=each.kind,
            begin_s=round(each.begin_s - began_s, 3),
            end_s=round(each.end_s - began_s, 3),
            text=each.text,
        )
        for each in incidents
        if each.end_s >= began_s and each.begin_s < began_s + seconds
    ]
    return sorted(found, key=lambda each: each.begin_s)


def _counts(kinds: Mapping[str, Sequence[IncidentEntry]]) -> Iterator[CountEntry]:
    for kind, of in kinds.items():
        took_s = [each.end_s - each.begin_s for each in of]
        longest_s, whole_s = round(max(took_s), 3), round(sum(took_s), 3)
        yield CountEntry(kind=kind, count=len(of), seconds=whole_s, longest_s=longest_s)


def _bands(kinds: Mapping[str, Sequence[IncidentEntry]], seconds: int) -> list[IncidentEntry]:
    """For each kind and each point of a figure's course: the longest incident that begins there."""
    step_s = max(1.0, seconds / MOST_POINTS)
    found: dict[tuple[str, int], IncidentEntry] = {}
    for kind, of in kinds.items():
        for each in sorted(of, key=lambda each: each.end_s - each.begin_s):
            found[kind, int(each.begin_s / step_s)] = each
    return sorted(found.values(), key=lambda each: each.begin_s)


def _have(samples: Sequence[Mapping[str, Any]], name: str) -> bool:
    return bool(samples) and all(each.get(name) is not None for each in samples)


def _at_s(traced: FullTrace, sample: Mapping[str, Any]) -> float:
    return float((sample["t_ms"] - traced.began_ms) / 1000)


def _totals(seen: Sequence[Mapping[str, Any]], per_s: float) -> dict[str, float]:
    """The growth of each total from the first sample to the last. Commits at the same time share a
    flush of the log, so there may be fewer flushes than operations."""
    found = {name: seen[-1][name] - seen[0][name] for name in _TOTALS if _have(seen, name)}
    if found.get("wal_syncs") and per_s:
        answered = per_s * (seen[-1]["t_ms"] - seen[0]["t_ms"]) / 1000
        found["wal_syncs_per_operation"] = found["wal_syncs"] / answered
    return found


def _growth(traced: FullTrace, samples: Sequence[Mapping[str, Any]]) -> float | None:
    """The growth of the table, including what it stores elsewhere (TOAST); None without samples."""
    known = [each for each in samples if "table_bytes" in each]
    thirds = grouped(known, lambda each: int(3 * _at_s(traced, each) // traced.seconds))
    before, after = (_mean([each["table_bytes"] for each in thirds.get(n, ())]) for n in (1, 2))
    return after / before if before and after is not None else None


def _fault(
    fault: IncidentEntry,
    per_s: Sequence[float],
    traced: FullTrace,
    samples: Sequence[Mapping[str, Any]],
) -> FaultEntry | None:
    before = per_s[: max(0, int(fault.begin_s))]
    during = per_s[int((fault.begin_s + fault.end_s) / 2) : int(fault.end_s)]
    if not before or not during:
        return None
    dead = [
        each["dead_rows"]
        for each in samples
        if fault.begin_s <= _at_s(traced, each) <= fault.end_s + 5 and "dead_rows" in each
    ]
    return FaultEntry(
        kind=fault.text,
        begin_s=fault.begin_s,
        end_s=fault.end_s,
        before_per_s=fmean(before),
        during_per_s=fmean(during),
        dead_rows=max(dead, default=None),
    )


def _waits(samples: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for each in samples:
        total.update(each.get("waits", {}))
    return {event: round(count / len(samples), 4) for event, count in total.most_common()}


def _of_database(
    traced: FullTrace, samples: Sequence[Mapping[str, Any]], waits: Mapping[str, float]
) -> list[Course]:
    """The database monitor's samples as courses of equal steps, with gaps where it has none."""
    if len(samples) < 2:
        return []
    spans_s = np.maximum(np.diff([each["t_ms"] for each in samples]) / 1000, 1e-3)
    steps = -(-traced.seconds // int(LOOK_EVERY_S))
    at = [int(_at_s(traced, each) // LOOK_EVERY_S) for each in samples]

    def on_grid(column: str, values: Iterable[float | None]) -> Course:
        placed: list[float | None] = [None] * steps
        for step, value in zip(at, values, strict=True):
            if 0 <= step < steps:
                placed[step] = value
        return course_of(column, placed, LOOK_EVERY_S)

    found = [
        on_grid(column, (factor * each[name] for each in samples))
        for name, (column, factor) in _LEVELS.items()
        if _have(samples, name)
    ]
    for name, column in _RATES.items():
        if _have(samples, name):
            grown = np.diff([each[name] for each in samples]) / spans_s
            found.append(on_grid(column, [None, *map(float, grown)]))
    for event in list(waits)[:_MOST_WAITS]:
        values = (float(each.get("waits", {}).get(event, 0)) for each in samples)
        found.append(on_grid(f"waits {event}", values))
    return found
