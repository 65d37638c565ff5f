"""Reads the JTL of an open load against its schedule: latency counts from the intended moment.

The log is read a piece at a time, and what is kept of it is counted: it does not grow with samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from restbench.analyse.counted import Counted, together
from restbench.failures import BadConfiguration
from restbench.machine.whole_lines import pieces

_COLUMNS = {
    "timeStamp": pl.Int64,
    "elapsed": pl.Int64,
    "responseCode": pl.String,
    "success": pl.String,
    "arrival": pl.Int64,
    "intended_ms": pl.Int64,
}
_END_MS = pl.col("timeStamp") + pl.col("elapsed")
_CORRECT = pl.col("success") == "true"


@dataclass(frozen=True)
class Answered:
    """What came of the window's arrivals."""

    arrivals: int
    """How many the schedule has in the window."""
    seconds: float
    errors: int
    wrong_in_load: int
    """Answers 200 with a wrong product, warm-up included: one of them voids the step (rule 5)."""
    ended_in_window: int
    """Correct answers that ended in the window, whichever arrival they belong to."""
    correct_ms: Counted
    """Latency of the correct answers: end - intended moment."""
    from_sending_ms: Counted
    """The same from the moment of sending: what a closed load would call latency."""
    lateness_ms: Counted
    """How long after its intended moment each answered arrival was sent, errors included."""

    @property
    def unsent(self) -> int:
        """Arrivals of the window that no request was sent for before the load ended."""
        return self.arrivals - self.lateness_ms.size

    @property
    def achieved_per_s(self) -> float:
        """Correct answers that ended in the window, per second (rule 4)."""
        return self.ended_in_window / self.seconds

    @property
    def latency_ms(self) -> Counted:
        """Of ALL arrivals: one without a correct answer is slower than any other."""
        correct, missing = self.correct_ms, self.arrivals - self.correct_ms.size
        if not missing:
            return correct
        return Counted(np.append(correct.values, np.inf), np.append(correct.counts, missing))


@dataclass(frozen=True)
class _Part:
    """What a piece of the log comes to."""

    starts_ms: frozenset[int | None]
    """When the schedule began, as each of its samples has it; None of one that is not in it."""
    errors: int
    wrong: int
    ended: int
    correct_ms: Counted
    from_sending_ms: Counted
    lateness_ms: Counted


def read(jtl: Path, schedule: Path, window_ms: tuple[int, int]) -> Answered:
    """The window's arrivals and their answers; the window is half open, after the schedule's start.

    BadConfiguration where a file is missing, lacks a column, or the two do not belong together.
    """
    try:
        planned = pl.read_csv(schedule)
        parts = [_part(_samples(piece), planned, window_ms) for piece in pieces(jtl)]
        if not parts:
            raise pl.exceptions.NoDataError("it is empty")
    except (OSError, pl.exceptions.PolarsError) as error:
        cause = str(error).partition("\n")[0]
        raise BadConfiguration(f"{jtl}: not a JTL of an open load: {cause}") from error
    _require_one_start(parts, jtl)
    first, end = window_ms
    return Answered(
        arrivals=int(planned["offset_ms"].is_between(first, end, closed="left").sum()),
        seconds=(end - first) / 1000,
        errors=sum(each.errors for each in parts),
        wrong_in_load=sum(each.wrong for each in parts),
        ended_in_window=sum(each.ended for each in parts),
        correct_ms=together(each.correct_ms for each in parts),
        from_sending_ms=together(each.from_sending_ms for each in parts),
        lateness_ms=together(each.lateness_ms for each in parts),
    )


def _samples(piece: bytes) -> pl.DataFrame:
    """The columns that count."""
    return pl.read_csv(piece, columns=list(_COLUMNS), infer_schema=False, schema_overrides=_COLUMNS)


def _part(samples: pl.DataFrame, planned: pl.DataFrame, window_ms: tuple[int, int]) -> _Part:
    first, end = window_ms
    told = samples.join(planned, on="arrival", how="left").with_columns(
        start_ms=pl.col("intended_ms") - pl.col("offset_ms")
    )
    inside = told.filter(pl.col("offset_ms").is_between(first, end, closed="left"))
    correct = inside.filter(_CORRECT)
    ended = (_END_MS - pl.col("start_ms")).is_between(first, end, closed="left")
    return _Part(
        starts_ms=frozenset(told["start_ms"].unique()),
        errors=len(inside) - len(correct),
        wrong=len(told.filter(~_CORRECT & (pl.col("responseCode") == "200"))),
        ended=len(told.filter(_CORRECT & ended)),
        correct_ms=_counted(correct, _END_MS - pl.col("intended_ms")),
        from_sending_ms=_counted(correct, pl.col("elapsed")),
        lateness_ms=_counted(inside, pl.col("timeStamp") - pl.col("intended_ms")),
    )


def _counted(samples: pl.DataFrame, value: pl.Expr) -> Counted:
    counts = samples.select(value.alias("value")).group_by("value").len().sort("value")
    return Counted(counts["value"].to_numpy(), counts["len"].to_numpy().astype(np.int64))


def _require_one_start(parts: Sequence[_Part], jtl: Path) -> None:
    starts = frozenset[int | None]().union(*(each.starts_ms for each in parts))
    if len(starts) > 1 or None in starts:
        raise BadConfiguration(f"{jtl}: its samples do not belong to the schedule beside it")
