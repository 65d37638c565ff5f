"""Reads the JTL of an open load against its schedule: latency counts from the intended moment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from restbench import statistics
from restbench.failures import BadConfiguration
from restbench.whole_lines import whole_bytes

_COLUMNS = {
    "timeStamp": pl.Int64,
    "elapsed": pl.Int64,
    "responseCode": pl.String,
    "success": pl.String,
    "arrival": pl.Int64,
    "intended_ms": pl.Int64,
}
_END_MS = pl.col("timeStamp") + pl.col("elapsed")


@dataclass(frozen=True)
class Answered:
    """What came of the window's arrivals; the arrays have a value an answered one, in no order."""

    arrivals: int
    """How many the schedule has in the window."""
    seconds: float
    errors: int
    wrong_in_load: int
    """Answers 200 with a wrong product, warm-up included: one of them voids the step (rule 5)."""
    ended_in_window: int
    """Correct answers that ended in the window, whichever arrival they belong to."""
    correct_ms: npt.NDArray[np.int64]
    """Latency of the correct answers: end - intended moment."""
    from_sending_ms: npt.NDArray[np.int64]
    """The same from the moment of sending: what a closed load would call latency."""
    lateness_ms: npt.NDArray[np.int64]
    """How long after its intended moment each answered arrival was sent, errors included."""

    @property
    def unsent(self) -> int:
        """Arrivals of the window that no request was sent for before the load ended."""
        return self.arrivals - len(self.lateness_ms)

    @property
    def achieved_per_s(self) -> float:
        """Correct answers that ended in the window, per second (rule 4)."""
        return self.ended_in_window / self.seconds

    def percentile_ms(self, percent: float) -> float | None:
        """Exact, over ALL arrivals: one without a correct answer is slower than any other.

        None where the count does not support it (rule 4).
        """
        missing = np.full(self.arrivals - len(self.correct_ms), np.inf)
        return statistics.supported_percentile(
            np.concatenate([self.correct_ms.astype(np.float64), missing]), percent
        )

    def from_sending_percentile_ms(self, percent: float) -> float | None:
        """What a load that counts from the moment of sending would have shown."""
        return statistics.supported_percentile(self.from_sending_ms, percent)

    def lateness_percentile_ms(self, percent: float) -> float | None:
        """How late requests were sent."""
        return statistics.supported_percentile(self.lateness_ms, percent)


def read(jtl: Path, schedule: Path, window_ms: tuple[int, int]) -> Answered:
    """The window's arrivals and their answers; the window is half open, after the schedule's start.

    BadConfiguration where a file is missing, lacks a column, or the two do not belong together.
    """
    try:
        samples = _scan(jtl).join(pl.scan_csv(schedule), on="arrival", how="left").collect()
        planned = pl.read_csv(schedule)
    except (OSError, pl.exceptions.PolarsError) as error:
        cause = str(error).partition("\n")[0]
        raise BadConfiguration(f"{jtl}: not a JTL of an open load: {cause}") from error
    start_ms = _start_ms(samples, jtl)
    first, end = window_ms
    inside = samples.filter(pl.col("offset_ms").is_between(first, end, closed="left"))
    correct = inside.filter(_correct())
    ended = (_END_MS - start_ms).is_between(first, end, closed="left")
    return Answered(
        arrivals=int(planned["offset_ms"].is_between(first, end, closed="left").sum()),
        seconds=(end - first) / 1000,
        errors=len(inside) - len(correct),
        wrong_in_load=len(samples.filter(~_correct() & (pl.col("responseCode") == "200"))),
        ended_in_window=len(samples.filter(_correct() & ended)),
        correct_ms=correct.select(_END_MS - pl.col("intended_ms")).to_series().to_numpy(),
        from_sending_ms=correct["elapsed"].to_numpy(),
        lateness_ms=inside.select(pl.col("timeStamp") - pl.col("intended_ms"))
        .to_series()
        .to_numpy(),
    )


def _scan(jtl: Path) -> pl.LazyFrame:
    """The columns that count; a line that was cut off in the middle is left out."""
    with jtl.open("rb") as file:
        content = file.read(whole_bytes(jtl))
    return pl.scan_csv(content, infer_schema=False, schema_overrides=_COLUMNS).select(*_COLUMNS)


def _start_ms(samples: pl.DataFrame, jtl: Path) -> int:
    """The schedule's start, milliseconds since the epoch: the same for every sample."""
    starts = (samples["intended_ms"] - samples["offset_ms"]).unique()
    if len(starts) > 1 or starts.null_count():
        raise BadConfiguration(f"{jtl}: its samples do not belong to the schedule beside it")
    return int(starts[0]) if len(starts) else 0


def _correct() -> pl.Expr:
    return pl.col("success") == "true"
