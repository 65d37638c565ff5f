"""Reads JMeter's sample log (JTL, a CSV file): only the columns that count, only the window.

Built for millions of rows: the file is scanned once, in a stream, and what is kept of a completion
is a few numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from restbench.failures import BadConfiguration
from restbench.records import Window
from restbench.whole_lines import whole_bytes

#: The stages of the Server-Timing header, in its order (contract).
STAGES = ("queue", "parse", "compute", "serialize")
#: The column of a mixed load that says which kind of request a sample was.
KIND = "kind"
#: The column of a load whose sender has a finer clock than JMeter: microseconds.
FINE = "elapsed_us"
MICROS_PER_MILLI = 1_000
OUTCOMES = pl.Enum(["correct", "wrong-answer", "error"])

_TYPES = {
    "timeStamp": pl.Int64,
    "elapsed": pl.Int64,
    "responseCode": pl.String,  # a number, or words such as `Non HTTP response code: ...`
    "success": pl.String,
    "bytes": pl.Int64,
    "serverTiming": pl.String,
}
#: What only some loads tell.
_MORE_TYPES = {KIND: pl.Categorical(), FINE: pl.Int64()}
#: From a load's first request to its window; no profile warms up for a tenth of it.
LONGEST_LOAD_MS = 24 * 3600 * 1000
_END_MS = pl.col("timeStamp") + pl.col("elapsed")


@dataclass(frozen=True)
class Completions:
    """The samples of one load, warm-up included, and those of them that ENDED in the window.

    `load` and `frame` have the columns end_ms, elapsed_ms, outcome (correct | wrong-answer |
    error), one row a sample, and kind and elapsed_us where the load tells them; `frame` is the
    window's part.
    """

    load: pl.DataFrame
    window: Window
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

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The samples whose END time lies in [start_ms, end_ms) (method, rule 4)."""
        inside = pl.col("end_ms").is_between(
            self.window.start_ms, self.window.end_ms, closed="left"
        )
        return self.load.filter(inside)

    def count(self, outcome: str) -> int:
        """How many completions in the window had this outcome."""
        return int((self.frame["outcome"] == outcome).sum())

    @cached_property
    def correct(self) -> pl.DataFrame:
        """The window's completions with the right status and the exact product."""
        return self.frame.filter(pl.col("outcome") == "correct")

    @property
    def correct_elapsed_ms(self) -> npt.NDArray[np.int64]:
        """Response times of the correct completions, whole milliseconds."""
        return self.correct["elapsed_ms"].to_numpy()

    @property
    def has_fine_clock(self) -> bool:
        """Whether response times are known in less than whole milliseconds."""
        return FINE in self.load.columns

    @property
    def mean_of_all_ms(self) -> float | None:
        """The mean response time of every completion in the window, as fine as known."""
        fine = self.frame[FINE].mean() if self.has_fine_clock else None
        if isinstance(fine, float):
            return fine / MICROS_PER_MILLI
        mean = self.frame["elapsed_ms"].mean()
        return mean if isinstance(mean, float) else None

    def correct_latency_ms(self, kind: str | None = None) -> npt.NDArray[Any]:
        """Response times of the correct completions, of one kind or of all, as fine as known."""
        found = self.correct
        if kind is not None:
            found = found.filter(pl.col(KIND) == kind) if KIND in found.columns else found.clear()
        if self.has_fine_clock:
            return found[FINE].to_numpy() / MICROS_PER_MILLI
        return found["elapsed_ms"].to_numpy()

    @property
    def correct_ends_ms(self) -> npt.NDArray[np.int64]:
        """When the correct completions of the whole load ended, milliseconds since the epoch."""
        return self.load.filter(pl.col("outcome") == "correct")["end_ms"].to_numpy()

    def stage_mean_ms(self, stage: str) -> float | None:
        """The mean time of one stage over correct completions, from the service's own clock."""
        return self.stages_ms[stage]


def read(path: Path, window: Window) -> Completions:
    """The samples of a load and what its window holds, from one scan of the file.

    BadConfiguration where the file is missing, is no JTL or lacks a column.
    """
    samples = _scan(path)
    try:
        told = [name for name in _MORE_TYPES if name in samples.collect_schema().names()]
        rows = samples.select(
            _END_MS.alias("end_ms"),
            pl.col("elapsed").alias("elapsed_ms"),
            _outcome(),
            *(pl.col(name).cast(_MORE_TYPES[name], strict=False) for name in told),
        )
        kinds = [name for name in told if name == KIND]
        asked = [rows, _totals(samples, window), _spread(samples, window, kinds)]
        load, totals, spread = pl.collect_all(asked, engine="streaming")
    except pl.exceptions.PolarsError as error:
        raise _unreadable(path, error) from error
    found = totals.row(0, named=True)
    _require_near(path, window, found["started"])
    return Completions(
        load=load,
        window=window,
        answered_in_load=int(found["answered"]),
        wrong_in_load=int(found["wrong"]),
        started_ms=found["started"],
        stages_ms={stage: found[stage] for stage in STAGES},
        network_ms=found["network"],
        bytes_spread=spread.item(),
    )


def wrong_answers(path: Path) -> int:
    """How many answers of a load were wrong, however it ended; 0 where nothing is readable."""
    try:
        found = _scan(path).select((_outcome() == "wrong-answer").sum()).collect()
    except (BadConfiguration, pl.exceptions.PolarsError):
        return 0
    return int(found.item())


def _require_near(path: Path, window: Window, started_ms: int | None) -> None:
    """A stamp that lost digits would stretch the load over decades of empty seconds."""
    if started_ms is not None and abs(window.start_ms - started_ms) > LONGEST_LOAD_MS:
        raise _unreadable(path, ValueError(f"a sample of {started_ms} ms is far from its window"))


def _totals(samples: pl.LazyFrame, window: Window) -> pl.LazyFrame:
    """Sums and means that need no row kept: one row."""
    counted = _ends_in(window) & (pl.col("success") == "true")
    told = pl.sum_horizontal(*(pl.col(stage) for stage in STAGES), ignore_nulls=False)
    return samples.with_columns(*_stages()).select(
        _answered().sum().alias("answered"),
        (_outcome() == "wrong-answer").sum().alias("wrong"),
        pl.col("timeStamp").min().alias("started"),
        *(pl.col(stage).filter(counted).mean() for stage in STAGES),
        (pl.col("elapsed") - told).filter(counted).mean().alias("network"),
    )


def _spread(samples: pl.LazyFrame, window: Window, kinds: Sequence[str]) -> pl.LazyFrame:
    """The largest difference in size of right answers of one kind: one row. `kinds` is the column
    of the kinds, where there is one."""
    size = pl.col("bytes") - pl.col("serverTiming").str.len_bytes().fill_null(0)
    spread = (size.max() - size.min()).alias("spread")
    right = samples.filter(_ends_in(window) & (pl.col("success") == "true"))
    return (
        right.group_by(*kinds).agg(spread).select(pl.col("spread").max())
        if kinds
        else right.select(spread)
    )


def write_window(source: Path, target: Path, window: Window) -> None:
    """Copy the window's samples, every column as it is, to a JTL of their own (for dashboards)."""
    partial = target.with_name(f".{target.name}.part")
    try:
        ended = _scan(source).filter(_ends_in(window))
        ended.sink_csv(partial, quote_style="necessary", maintain_order=True)
    except pl.exceptions.PolarsError as error:
        partial.unlink(missing_ok=True)
        raise _unreadable(source, error) from error
    partial.replace(target)


def _scan(path: Path) -> pl.LazyFrame:
    """Every column as it stands in the file, the counted ones typed; a cut-off end is left out."""
    try:
        whole = whole_bytes(path)
        cut_off = whole < path.stat().st_size
        source = _first_bytes(path, whole) if cut_off else path
        return pl.scan_csv(source, infer_schema=False, schema_overrides=_TYPES)
    except OSError as error:
        raise BadConfiguration(f"{path}: cannot be read: {error.strerror}") from error


def _first_bytes(path: Path, count: int) -> bytes:
    with path.open("rb") as file:
        return file.read(count)


def _ends_in(window: Window) -> pl.Expr:
    return _END_MS.is_between(window.start_ms, window.end_ms, closed="left")


def _outcome() -> pl.Expr:
    correct = pl.col("success") == "true"
    return (
        pl.when(correct)
        .then(pl.lit("correct", OUTCOMES))
        .when(pl.col("responseCode") == "200")
        .then(pl.lit("wrong-answer", OUTCOMES))
        .otherwise(pl.lit("error", OUTCOMES))
        .alias("outcome")
    )


def _answered() -> pl.Expr:
    return pl.col("responseCode").str.contains(r"^\d{3}$").fill_null(False)


def _stages() -> list[pl.Expr]:
    """The four times by their places: splitting costs half of what a regular expression does, and
    a header of another form, or one out of order, gives nothing rather than another stage's."""
    parts = pl.col("serverTiming").str.split_exact(", ", len(STAGES) - 1)
    return [
        parts.struct.field(f"field_{place}")
        .str.strip_prefix(f"{stage};dur=")
        .cast(pl.Float64, strict=False)
        .alias(stage)
        for place, stage in enumerate(STAGES)
    ]


def _unreadable(path: Path, error: Exception) -> BadConfiguration:
    cause = str(error).strip().partition("\n")[0]
    return BadConfiguration(f"{path}: not a JTL with the columns {', '.join(_TYPES)}: {cause}")
