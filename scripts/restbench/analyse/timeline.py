"""One measurement over time, and how its response times are distributed: what a chart of one cell
shows, as plain lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from restbench.analyse import steady
from restbench.analyse.counted import Counted
from restbench.analyse.jtl import Completions
from restbench.analyse.steady import Course
from restbench.experiment.records import CellRun, Window
from restbench.observe import pidstat, sysstat
from restbench.store.cell_folder import CellFolder

#: How many completions show a percentile: those that the tables need (`statistics`), the quarters
#: with 30 values beyond them, and p99.9 with as many beyond as p99 has; 100 is the maximum.
PERCENTS: dict[float, int] = {
    10: 300,
    25: 120,
    50: 30,
    75: 120,
    90: 300,
    95: 1_000,
    99: 10_000,
    99.9: 100_000,
    100: 1,
}
BINS_A_DECADE = 12


@dataclass(frozen=True)
class Distribution:
    """Of the correct completions in the window; empty where there are none."""

    percents: list[float]
    """Those that the number of completions supports; the last one, 100, is the maximum."""
    percentile_ms: list[float]
    histogram_ms: list[float]
    """Edges, one more than there are counts, evenly spread on a logarithmic scale and between whole
    milliseconds, which is what a JTL counts."""
    histogram_counts: list[int]


@dataclass(frozen=True)
class Timeline:
    """One block of a cell, warm-up included. Times are seconds from the window's start, so warm-up
    is negative; each is the MIDDLE of the bin or sample it stands for."""

    block: int
    window_s: float
    steady: bool | None
    """False: the end of warm-up could not be found; None: too little data to judge (`steady`)."""
    cut_s: float | None
    """Where MSER ends warm-up."""
    bin_s: float
    """The width of the load's bins, one second or less."""
    second_s: list[float]
    throughput_per_s: list[float]
    """Correct completions that ended in each bin, per second."""
    mean_ms: list[float | None]
    """Their mean response time; None for a bin without any."""
    errors_per_s: list[float]
    """Every other completion."""
    core_second_s: list[float]
    core_pct: list[list[float]]
    """One list a core, in their order: percent of it at work; empty without sar."""
    memory_second_s: list[float]
    memory_mib: list[float]
    """Resident memory of the service's processes together; empty where it was not watched."""
    service_cpu_pct: list[float]
    """Their CPU time at the same moments, percent of ONE core."""
    percents: list[float]
    percentile_ms: list[float]
    histogram_ms: list[float]
    histogram_counts: list[int]
    """The four of `Distribution`."""

    @property
    def window_counts(self) -> list[int]:
        """Correct completions of the bins that lie in the window as a whole."""
        half_bin_s = self.bin_s / 2
        return [
            round(rate * self.bin_s)
            for middle_s, rate in zip(self.second_s, self.throughput_per_s, strict=True)
            if middle_s >= half_bin_s - 1e-6
        ]


def of(record: CellRun, folder: CellFolder, completions: Completions) -> Timeline | None:
    """The timeline of one measurement, from its completions and what lies beside them; None for a
    load without a single sample, or one that others had their turns at."""
    started_ms = completions.started_ms
    window = completions.window
    if window.turns or started_ms is None or started_ms >= window.end_ms:
        return None
    ends = completions.ended.filter(pl.col("correct") > 0)
    ends_ms, counts = ends["end_ms"].to_numpy(), ends["correct"].to_numpy()
    course = steady.course(ends_ms, started_ms, window.end_ms, counts)
    judged = steady.judge(course, window.start_ms)
    span = Window(start_ms=min(started_ms, window.start_ms), end_ms=window.end_ms, ended="capped")
    cores = sysstat.core_series(folder.sar_json, span)
    service = pidstat.process_series(folder.pidstat, span, record.service_pids)
    means, errors = _per_bin(completions, course)
    return Timeline(
        block=record.block,
        window_s=window.seconds,
        steady=judged.steady,
        cut_s=None if judged.cut_ms is None else (judged.cut_ms - window.start_ms) / 1000,
        bin_s=course.bin_ms / 1000,
        second_s=_relative_s(window, course.first_ms + course.bin_ms * (_places(course) + 0.5)),
        throughput_per_s=(course.counts / (course.bin_ms / 1000)).tolist(),
        mean_ms=means,
        errors_per_s=errors,
        core_second_s=_relative_s(window, np.array(cores.at_ms)),
        core_pct=[list(core) for core in cores.values],
        memory_second_s=_relative_s(window, np.array(service.at_ms)),
        memory_mib=list(service.values[1]),
        service_cpu_pct=list(service.values[0]),
        **vars(distribution(completions.correct_ms)),
    )


def distribution(elapsed_ms: Counted) -> Distribution:
    """The percentiles that the count supports, and a histogram on a logarithmic scale."""
    if elapsed_ms.largest is None:
        return Distribution([], [], [], [])
    shown = [percent for percent, needed in PERCENTS.items() if elapsed_ms.size >= needed]
    edges = _edges_ms(int(elapsed_ms.values[0]), int(elapsed_ms.largest))
    counts, _ = np.histogram(elapsed_ms.values, edges, weights=elapsed_ms.counts)
    return Distribution(
        percents=list(shown),
        percentile_ms=[elapsed_ms.percentile(percent) for percent in shown],
        histogram_ms=edges.tolist(),
        histogram_counts=counts.tolist(),
    )


def _edges_ms(smallest: int, largest: int) -> npt.NDArray[np.float64]:
    """Each bin holds whole milliseconds entirely: the first few are one millisecond wide."""
    low, high = max(smallest, 1), max(largest, 1) + 1
    steps = max(1, round(np.log10(high / low) * BINS_A_DECADE))
    inner = np.unique(np.round(np.geomspace(low, high, steps + 1))) - 0.5
    return np.concatenate([[smallest - 0.5], inner]) if smallest < 1 else inner


def _per_bin(completions: Completions, course: Course) -> tuple[list[float | None], list[float]]:
    """The mean response time of the correct completions and the rate of all others, each bin."""
    ended = completions.ended.filter(
        pl.col("end_ms").is_between(course.first_ms, course.end_ms, closed="left")
    )
    place = (ended["end_ms"].to_numpy() - course.first_ms) // course.bin_ms

    def per_bin(column: str) -> list[float]:
        summed = np.bincount(place, ended[column].to_numpy(), course.counts.size)
        return list(summed.tolist())

    means = [
        total / correct if correct else None
        for total, correct in zip(per_bin("correct_ms"), per_bin("correct"), strict=True)
    ]
    return means, [others / (course.bin_ms / 1000) for others in per_bin("others")]


def _places(course: Course) -> npt.NDArray[np.int64]:
    return np.arange(course.counts.size, dtype=np.int64)


def _relative_s(window: Window, at_ms: npt.NDArray[Any]) -> list[float]:
    seconds: list[float] = ((at_ms - window.start_ms) / 1000).tolist()
    return seconds
