"""Reads JMeter's sample log (JTL, a CSV file): only the columns that count, only the window.

Built for millions of rows: the file is scanned once, in a stream, and what is kept of a completion
is a few numbers.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from restbench.failures import BadConfiguration
from restbench.records import Window

#: The stages of the Server-Timing header, in its order (contract).
STAGES = ("queue", "parse", "compute", "serialize")
OUTCOMES = pl.Enum(["correct", "wrong-answer", "error"])

_TYPES = {
    "timeStamp": pl.Int64,
    "elapsed": pl.Int64,
    "responseCode": pl.String,  # a number, or words such as `Non HTTP response code: ...`
    "success": pl.String,
    "serverTiming": pl.String,
}
_END_MS = pl.col("timeStamp") + pl.col("elapsed")


@dataclass(frozen=True)
class Completions:
    """The samples that ENDED in the window, one row each, and two counts over the whole load.

    `frame` has the columns end_ms, elapsed_ms, outcome (correct | wrong-answer | error) and
    `queue_ms` ... `serialize_ms` (null where the response did not tell).
    """

    frame: pl.DataFrame
    answered_in_load: int
    """Samples of the whole file, warm-up included, that got an HTTP status at all: what the
    service can have counted as well."""
    wrong_in_load: int
    """Wrong answers of the whole file: one of them voids the run, wherever it falls (rule 5)."""

    def count(self, outcome: str) -> int:
        """How many completions in the window had this outcome."""
        return int((self.frame["outcome"] == outcome).sum())

    @property
    def correct(self) -> pl.DataFrame:
        """The completions with the right status and the exact product."""
        return self.frame.filter(pl.col("outcome") == "correct")

    @property
    def correct_elapsed_ms(self) -> npt.NDArray[np.int64]:
        """Response times of the correct completions, whole milliseconds."""
        return self.correct["elapsed_ms"].to_numpy()

    def stage_mean_ms(self, stage: str) -> float | None:
        """The mean time of one stage over correct completions, from the service's own clock."""
        mean = self.correct[f"{stage}_ms"].mean()
        return float(mean) if isinstance(mean, float) else None


def read(path: Path, window: Window) -> Completions:
    """The completions whose END time lies in [start_ms, end_ms) (method, rule 4).

    BadConfiguration where the file is missing, is no JTL or lacks a column.
    """
    samples = _scan(path)
    completions = samples.filter(_ends_in(window)).select(
        _END_MS.alias("end_ms"), pl.col("elapsed").alias("elapsed_ms"), _outcome(), *_stages()
    )
    counts = samples.select(
        _answered().sum().alias("answered"), (_outcome() == "wrong-answer").sum().alias("wrong")
    )
    try:
        frame, totals = pl.collect_all([completions, counts], engine="streaming")
    except pl.exceptions.PolarsError as error:
        raise _unreadable(path, error) from error
    return Completions(frame, int(totals["answered"].item()), int(totals["wrong"].item()))


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


def whole_bytes(path: Path) -> int:
    """The length of the part of the file that holds whole records.

    JMeter is stopped in the middle of a line at times. A record ends at a line break that has an
    even number of quotes before it; a line break inside a quoted message has an odd one.
    """
    if path.stat().st_size == 0:
        return 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return _end_of_last_record(content)


def _end_of_last_record(content: mmap.mmap) -> int:
    quotes_before = _count_quotes(content)
    end = len(content)
    while (line_break := content.rfind(b"\n", 0, end)) >= 0:
        quotes_before -= content[line_break:end].count(b'"')
        if quotes_before % 2 == 0:
            return line_break + 1
        end = line_break
    return 0


def _count_quotes(content: mmap.mmap, chunk_bytes: int = 1 << 22) -> int:
    return sum(
        content[start : start + chunk_bytes].count(b'"')
        for start in range(0, len(content), chunk_bytes)
    )


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
    header = pl.col("serverTiming")
    return [
        header.str.extract(rf"{stage};dur=([0-9.]+)").cast(pl.Float64).alias(f"{stage}_ms")
        for stage in STAGES
    ]


def _unreadable(path: Path, error: Exception) -> BadConfiguration:
    cause = str(error).strip().partition("\n")[0]
    return BadConfiguration(f"{path}: not a JTL with the columns {', '.join(_TYPES)}: {cause}")
