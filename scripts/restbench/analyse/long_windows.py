"""A run's long windows (method, rule 13): what sar, pidstat and the service's metrics show of each,
and each window's course over time, from its samples."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np

from restbench.analyse import trace
from restbench.experiment.records import LongWindow
from restbench.observe import collected
from restbench.store.exported import SeriesEntry
from restbench.store.folders import CellFolder
from restbench.store.quoted import WindowEntry
from restbench.store.store import Run, read_model
from restbench.store.traces import MOST_POINTS

#: The shortest step of a course: fewer than ten responses would fall into a shorter one.
SHORTEST_STEP_S = 0.1


def of_run(run: Run) -> list[WindowEntry]:
    """The observations of every finished long window of the run, in the order of the plan."""
    cells = dict.fromkeys(each.cell.id for each in run.manifest().plan)
    folders = ((cell, run.window(cell)) for cell in cells)
    return [_observed(cell, folder) for cell, folder in folders if folder.window_record.exists()]


def _observed(cell: str, folder: CellFolder) -> WindowEntry:
    """The observations of one window, of the collectors that have a sample in it."""
    record = read_model(folder.window_record, LongWindow)
    window = record.window
    return WindowEntry(
        cell=cell,
        seconds=window.seconds,
        **collected.machine_use(folder.sar_json, window),
        **collected.process_use(folder.pidstat, window, record.service_pids),
        **collected.service_metrics(folder.metrics, window),
    )


def courses(run: Run, note: Callable[[str], None]) -> list[SeriesEntry]:
    """Throughput and mean response time of each of the run's long windows; none where it has none.

    Samples that cannot be read are reported, and left out.
    """
    found = []
    for samples in sorted(run.windows.glob("*/samples.jtl")):
        try:
            found += _course(samples.parent.name, samples)
        except (OSError, KeyError, TypeError, ValueError) as error:
            note(f"{samples} is left out: {error}")
    return found


def _course(cell: str, samples: Path) -> list[SeriesEntry]:
    """The courses of a JTL file, by the times at which correct responses ended, counted from the
    first request on. Raises KeyError, TypeError or ValueError where the file is no whole JTL."""
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
    per_s = np.bincount(at, minlength=steps) * steps / span_s
    step_s = float(f"{span_s / steps:.5g}")
    found = (
        trace.course_of("throughput_per_s", per_s, step_s),
        trace.means_of("mean_ms", at, correct[:, 1], steps, step_s),
    )
    return [SeriesEntry(cell=cell, **each.model_dump()) for each in found]
