"""The course of a long window over time, from its samples, in at most `MOST_POINTS` steps."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np

from restbench.store.exported import SeriesEntry
from restbench.store.store import Run
from restbench.store.traces import MOST_POINTS

#: No step is shorter: fewer than ten responses would fall into one.
SHORTEST_STEP_S = 0.1


def of_run(run: Run, note: Callable[[str], None]) -> list[SeriesEntry]:
    """Throughput and mean response time of each of the run's long windows; none where it has none.

    Samples that cannot be read are reported, and left out.
    """
    found = []
    for samples in sorted(run.windows.glob("*/samples.jtl")):
        try:
            found += of_samples(samples.parent.name, samples)
        except (OSError, KeyError, ValueError) as error:
            note(f"left out: {samples}: {error}")
    return found


def of_samples(cell: str, samples: Path) -> list[SeriesEntry]:
    """By the moments at which correct responses of a JTL ended, counted from the first request on.
    KeyError or ValueError where it is none."""
    with samples.open(encoding="utf-8", newline="") as lines:
        table = [
            (int(line["timeStamp"]), int(line["elapsed"]), line["success"] == "true")
            for line in csv.DictReader(lines)
        ]
    begin_ms = min((sent_ms for sent_ms, _, _ in table), default=0)
    correct = np.array([each[:2] for each in table if each[2]], dtype=np.int64)
    if not correct.size:
        return []
    ended_s = (correct[:, 0] - begin_ms + correct[:, 1]) / 1000
    span_s = max(float(ended_s.max()), SHORTEST_STEP_S)
    steps = min(MOST_POINTS, int(span_s / SHORTEST_STEP_S))
    at = np.minimum((ended_s * steps / span_s).astype(int), steps - 1)
    counts = np.bincount(at, minlength=steps)
    sums_ms = np.bincount(at, weights=correct[:, 1], minlength=steps)
    per_s = tuple(_short(count * steps / span_s) for count in counts)
    means_ms = tuple(
        _short(total / count) if count else None
        for total, count in zip(sums_ms, counts, strict=True)
    )
    step_s = _short(span_s / steps)
    return [
        SeriesEntry(cell=cell, column="throughput_per_s", step_s=step_s, values=per_s),
        SeriesEntry(cell=cell, column="mean_ms", step_s=step_s, values=means_ms),
    ]


def _short(value: float) -> float:
    """In five significant digits: a step of a tenth of a second knows no more."""
    return float(f"{value:.5g}")
