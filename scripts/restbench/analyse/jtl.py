"""Reads JMeter's sample log (JTL, a CSV file): only the columns that count, a piece at a time.

Built for millions of rows: the file is read once, and nothing is kept of a single sample. Response
times are whole milliseconds, so how often each occurred says all there is to know of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from restbench.analyse import sample_sums, steady
from restbench.analyse.counted import NOTHING, Counted, together
from restbench.analyse.sample_sums import MICROS_PER_MILLI, STAGES, Sums
from restbench.analyse.samples import (
    OUTCOMES,
    counted_columns,
    ends_in,
    every_column,
    unreadable,
)
from restbench.experiment.records import Window
from restbench.failures import BadConfiguration

#: From a load's first request to its window; no profile warms up for a tenth of it.
LONGEST_LOAD_MS = 24 * 3600 * 1000


@dataclass(frozen=True)
class Completions:
    """What a load's samples come to, warm-up included, and those of them that ENDED in the window.

    A sample is correct, a wrong answer (status 200, another product) or an error.
    """

    window: Window
    ended: pl.DataFrame
    """When the load's samples ended. Columns: end_ms, where a step of time starts (a millisecond;
    `steady.step_ms` of a long load, of which the window's end is a multiple away); correct, how
    many ended in it; correct_ms, their response times together; others, all that were not correct.
    In the order of time, only steps in which something ended."""
    latency_ms: dict[str, Counted]
    """Response times of the window's correct completions by their kind, ANY where a load does not
    tell of kinds: whole milliseconds, or as fine as the sender's clock."""
    has_fine_clock: bool
    """Whether response times are known in less than whole milliseconds."""
    outcomes: dict[str, int]
    """How many completions in the window had each outcome that occurred."""
    mean_of_all_ms: float | None
    """Mean response time of all of them, whatever came of them, as fine as known."""
    answered_in_load: int
    """Samples of the whole file, warm-up included, that got an HTTP status at all: what the
    service can have counted as well."""
    wrong_in_load: int
    """Wrong answers of the whole file: one of them voids the run, wherever it falls (rule 5)."""
    started_ms: int | None
    """When the first request was sent; None for a file without samples."""
    stages_ms: dict[str, float | None]
    """Mean time of each stage over the window's correct completions, from the service's own clock;
    None where no response told it."""
    network_ms: float | None
    """Mean over the same of what of a response time is in no stage: connection, kernel, web server
    and the load generator's own work (whole milliseconds minus exact ones, so exact on average)."""
    bytes_spread: int | None
    """Largest minus smallest size of the window's correct responses of one kind, without their
    stage times."""

    def correct_latency_ms(self, kind: str | None = None) -> Counted:
        """Response times of the correct completions, of one kind or of all, as fine as known."""
        if kind is not None:
            return self.latency_ms.get(kind, NOTHING)
        return together(self.latency_ms.values())

    @property
    def correct_ms(self) -> Counted:
        """The same of all in whole milliseconds."""
        return self.correct_latency_ms().whole()

    @property
    def completed(self) -> int:
        """How many samples ended in the window (method, rule 4)."""
        return sum(self.outcomes.values())

    def count(self, outcome: str) -> int:
        """How many completions in the window had this outcome."""
        return self.outcomes.get(outcome, 0)


def read(path: Path, window: Window) -> Completions:
    """What a load's samples come to, from one reading of the file.

    BadConfiguration where the file is missing, is no JTL or lacks a column.
    """
    frames = counted_columns(path)
    first = next(frames)
    step_ms = _step_ms(first, window)
    sums = sample_sums.of(first, window, step_ms)
    for samples in frames:
        sums = sums.plus(sample_sums.of(samples, window, step_ms))
    return _completions(path, window, sums)


def _completions(path: Path, window: Window, sums: Sums) -> Completions:
    found = sums.totals.row(0, named=True)
    _require_near(path, window, found["started"])
    elapsed = sums.elapsed.drop_nulls("elapsed").sort("elapsed")
    is_fine = bool(found["fine"])
    per_ms = MICROS_PER_MILLI if is_fine else 1
    sum_of_all = int((elapsed["elapsed"] * elapsed["all"]).sum())
    return Completions(
        window=window,
        ended=sums.ended.sort("end_ms"),
        latency_ms=_by_kind(elapsed.filter(pl.col("correct") > 0), per_ms),
        has_fine_clock=is_fine,
        outcomes={name: int(found[name]) for name in OUTCOMES.categories},
        mean_of_all_ms=_mean(sum_of_all / per_ms, int(elapsed["all"].sum())),
        answered_in_load=int(found["answered"]),
        wrong_in_load=int(found["wrong"]),
        started_ms=found["started"],
        stages_ms={name: _mean(found[name], found[f"{name} told"]) for name in STAGES},
        network_ms=_mean(found["network"], found["network told"]),
        bytes_spread=_largest_spread(sums.sizes),
    )


def _by_kind(elapsed: pl.DataFrame, per_ms: int) -> dict[str, Counted]:
    """`elapsed` ascends; whole milliseconds stay whole numbers."""
    found = {}
    for (kind,), times in elapsed.group_by("kind", maintain_order=True):
        values = times["elapsed"].to_numpy()
        found[str(kind)] = Counted(
            values if per_ms == 1 else values / per_ms, times["correct"].to_numpy()
        )
    return found


def _largest_spread(sizes: pl.DataFrame) -> int | None:
    largest = (sizes["largest"] - sizes["smallest"]).max()
    return largest if isinstance(largest, int) else None


def _mean(total: float, count: int) -> float | None:
    return total / count if count else None


def wrong_answers(path: Path) -> int:
    """How many answers of a load were wrong, however it ended; 0 where nothing is readable."""
    try:
        return sum(int((each["outcome"] == "wrong-answer").sum()) for each in counted_columns(path))
    except BadConfiguration:
        return 0


def write_window(source: Path, target: Path, window: Window) -> None:
    """Copy the window's samples, every column as it is, to a JTL of their own (for dashboards)."""
    partial = target.with_name(f".{target.name}.part")
    try:
        with partial.open("wb") as copy:
            for number, samples in enumerate(every_column(source)):
                inside = samples.filter(ends_in(window))
                inside.write_csv(copy, include_header=number == 0, quote_style="necessary")
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    partial.replace(target)


def _require_near(path: Path, window: Window, started_ms: int | None) -> None:
    """A stamp that lost digits would stretch the load over decades of empty seconds."""
    if started_ms is not None and abs(window.start_ms - started_ms) > LONGEST_LOAD_MS:
        raise unreadable(path, ValueError(f"a sample of {started_ms} ms is far from its window"))


def _step_ms(samples: pl.DataFrame, window: Window) -> int:
    """From the first sample of the file: the load began no later than that."""
    first = samples["timeStamp"][0] if samples.height else window.end_ms
    return steady.step_ms(window.end_ms - first)
