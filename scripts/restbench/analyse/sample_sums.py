"""What samples come to, so that two pieces of a log can be put together: nothing is kept of one."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from restbench.analyse.samples import END_MS, FINE, KIND, OUTCOMES, ends_in
from restbench.experiment.records import Window

#: The stages of the Server-Timing header, in its order (contract).
STAGES = ("queue", "parse", "compute", "serialize")
#: The kind of all requests of a load that does not tell of kinds.
ANY = ""
MICROS_PER_MILLI = 1_000
_CORRECT = pl.col("outcome") == "correct"
#: The column that says whether a sample ended in the window.
_INSIDE = "inside"


@dataclass(frozen=True)
class Sums:
    """What samples come to, so that the sums of two pieces of a file are those of both."""

    ended: pl.DataFrame
    """As `Completions.ended`."""
    elapsed: pl.DataFrame
    """Of the window, a row a kind of request (kind) and response time (elapsed, in microseconds
    where the clock is fine): how many correct completions had it (correct), how many at all."""
    sizes: pl.DataFrame
    """Of the window's correct responses, a row a kind: the smallest and the largest."""
    totals: pl.DataFrame
    """One row: sums and counts that means are made of, and the earliest start."""

    def plus(self, other: Sums) -> Sums:
        """Of both."""
        return Sums(
            _together([self.ended, other.ended], "end_ms"),
            _together([self.elapsed, other.elapsed], "elapsed", "kind"),
            pl.concat([self.sizes, other.sizes])
            .group_by("kind")
            .agg(pl.col("smallest").min(), pl.col("largest").max()),
            pl.concat([self.totals, other.totals]).select(
                pl.exclude("started").sum(), pl.col("started").min()
            ),
        )


def _together(frames: list[pl.DataFrame], *keys: str) -> pl.DataFrame:
    """Sums of all other columns by the keys."""
    return pl.concat(frames).group_by(*keys).sum()


def of(samples: pl.DataFrame, window: Window, step_ms: int) -> Sums:
    """What a frame of samples comes to; their ends are counted in steps of `step_ms`."""
    told = samples.with_columns(ends_in(window).alias(_INSIDE))
    return Sums(_ended(told, window, step_ms), _elapsed(told), _sizes(told), _totals(told))


def _ended(samples: pl.DataFrame, window: Window, step_ms: int) -> pl.DataFrame:
    step = window.end_ms + (END_MS - window.end_ms).floordiv(step_ms) * step_ms
    return (
        samples.filter(END_MS.is_not_null())
        .group_by(step.alias("end_ms"))
        .agg(
            _CORRECT.sum().cast(pl.Int64).alias("correct"),
            pl.col("elapsed").filter(_CORRECT).sum().alias("correct_ms"),
            (~_CORRECT).sum().cast(pl.Int64).alias("others"),
        )
    )


def _elapsed(samples: pl.DataFrame) -> pl.DataFrame:
    return (
        samples.filter(_INSIDE)
        .group_by(_latency(samples).alias("elapsed"), _kind(samples))
        .agg(_CORRECT.sum().cast(pl.Int64).alias("correct"), pl.len().cast(pl.Int64).alias("all"))
    )


def _latency(samples: pl.DataFrame) -> pl.Expr:
    """As fine as known. A failed sample that the sender did not time has none, beside others in
    microseconds; a correct one has its whole milliseconds then."""
    if not _is_fine(samples):
        return pl.col("elapsed")
    whole = pl.when(_CORRECT).then(pl.col("elapsed") * MICROS_PER_MILLI)
    return pl.coalesce(pl.col(FINE), whole)


def _sizes(samples: pl.DataFrame) -> pl.DataFrame:
    size = pl.col("bytes") - pl.col("serverTiming").str.len_bytes().fill_null(0)
    return (
        samples.filter(pl.col(_INSIDE) & _CORRECT)
        .group_by(_kind(samples))
        .agg(
            size.min().cast(pl.Int64).alias("smallest"), size.max().cast(pl.Int64).alias("largest")
        )
    )


def _kind(samples: pl.DataFrame) -> pl.Expr:
    told = pl.col(KIND).fill_null(ANY) if KIND in samples.columns else pl.lit(ANY)
    return told.alias("kind")


def _is_fine(samples: pl.DataFrame) -> bool:
    return FINE in samples.columns


def _totals(samples: pl.DataFrame) -> pl.DataFrame:
    inside = pl.col(_INSIDE)
    counted = inside & _CORRECT
    told = pl.sum_horizontal(*(pl.col(stage) for stage in STAGES), ignore_nulls=False)
    network = (pl.col("elapsed") - told).filter(counted)
    stages = {stage: pl.col(stage).filter(counted) for stage in STAGES}
    outcome = pl.col("outcome")
    return samples.with_columns(*_stages()).select(
        _answered().sum().cast(pl.Int64).alias("answered"),
        (outcome == "wrong-answer").sum().cast(pl.Int64).alias("wrong"),
        *(
            (inside & (outcome == each)).sum().cast(pl.Int64).alias(each)
            for each in OUTCOMES.categories
        ),
        *(times.sum() for times in stages.values()),
        *(times.count().cast(pl.Int64).alias(f"{stage} told") for stage, times in stages.items()),
        network.sum().alias("network"),
        network.count().cast(pl.Int64).alias("network told"),
        pl.lit(int(_is_fine(samples))).alias("fine"),
        pl.col("timeStamp").min().alias("started"),
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
