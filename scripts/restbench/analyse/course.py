"""The course of a long window over time, from its samples, in at most `MOST_POINTS` steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from restbench.analyse.samples import FINE, counted_columns
from restbench.failures import BadConfiguration
from restbench.store.exported import MOST_POINTS, SeriesEntry
from restbench.store.store import WINDOWS, Run

#: No step is shorter: fewer than ten responses would fall into one.
SHORTEST_STEP_S = 0.1


def of_run(run: Run, note: Callable[[str], None]) -> list[SeriesEntry]:
    """Throughput and mean response time of each of the run's long windows; none where it has none.

    Samples that cannot be read are told, and left out.
    """
    found = []
    for samples in sorted((run.path / "raw" / WINDOWS).glob("*/samples.jtl")):
        try:
            read = pl.concat(counted_columns(samples))
        except BadConfiguration as error:
            note(f"left out: {error}")
        else:
            found += of_samples(samples.parent.name, read)
    return found


def of_samples(cell: str, samples: pl.DataFrame) -> list[SeriesEntry]:
    """By the moments at which correct responses ended. `samples` has `counted_columns`."""
    correct = samples.filter(pl.col("outcome") == "correct")
    if not correct.height:
        return []
    elapsed_ms = _elapsed_ms(correct)
    begin_ms = samples["timeStamp"].to_numpy().min()
    ended_s = (correct["timeStamp"].to_numpy() - begin_ms + elapsed_ms) / 1000
    span_s = max(float(ended_s.max()), SHORTEST_STEP_S)
    steps = min(MOST_POINTS, int(span_s / SHORTEST_STEP_S))
    at = np.minimum((ended_s * steps / span_s).astype(int), steps - 1)
    counts = np.bincount(at, minlength=steps)
    sums_ms = np.bincount(at, weights=elapsed_ms, minlength=steps)
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


def _elapsed_ms(correct: pl.DataFrame) -> npt.NDArray[np.float64]:
    """As fine as the sender's clock."""
    if FINE in correct.columns:
        return correct[FINE].to_numpy().astype(np.float64) / 1000
    return correct["elapsed"].to_numpy().astype(np.float64)


def _short(value: float) -> float:
    """In five significant digits: a step of a tenth of a second knows no more."""
    return float(f"{value:.5g}")
