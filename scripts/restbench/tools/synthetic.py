"""Writes sample logs as JMeter does, from response times that are known: what analysis must find
in them can be said before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

#: How many rows are laid down at a time: bounds the memory, not the file.
CHUNK_ROWS = 500_000


@dataclass(frozen=True)
class Load:
    """A closed load as arrays, one entry a sample, in the order of their ends.

    `correct` is False for a request that was refused with status 503.
    """

    end_ms: npt.NDArray[np.int64]
    elapsed_ms: npt.NDArray[np.int64]
    correct: npt.NDArray[np.bool_]
    users: int


def closed_load(
    elapsed_ms: npt.NDArray[np.float64], users: int, start_ms: int, error_share: float = 0.0
) -> Load:
    """Users without think time who wait these times in turn, one column of the times each.

    Times are kept exact while they add up; the log has whole milliseconds, as JMeter's has:
    both ends of a request are cut to them.
    """
    per_user = elapsed_ms[: elapsed_ms.size // users * users].reshape(-1, users)
    ends = start_ms + np.cumsum(per_user, axis=0)
    whole_ends = np.floor(ends).astype(np.int64).ravel()
    whole_starts = np.floor(ends - per_user).astype(np.int64).ravel()
    order = np.argsort(whole_ends, kind="stable")
    refused = round(1 / error_share) if error_share else whole_ends.size + 1
    correct = np.arange(1, whole_ends.size + 1) % refused != 0
    return Load(whole_ends[order], (whole_ends - whole_starts)[order], correct, users)


def write(path: Path, load: Load, label: str = "synthetic") -> None:
    """Write the load as a JTL with every column of the suite's logs and stages that fill four
    fifths of each response time."""
    with path.open("wb") as file:
        for number, chunk in enumerate(_chunks(load, label)):
            if number == 0:
                file.write(_header(chunk.columns).encode())
            chunk.write_csv(file, include_header=False, quote_style="necessary")


def _header(columns: list[str]) -> str:
    """JMeter quotes the suite's own column, and its dashboard generator insists on it."""
    *own, last = columns
    return ",".join((*own, f'"{last}"')) + "\n"


def _chunks(load: Load, label: str) -> Iterator[pl.DataFrame]:
    for first in range(0, load.end_ms.size, CHUNK_ROWS):
        rows = slice(first, first + CHUNK_ROWS)
        plain = pl.DataFrame(
            {
                "end_ms": load.end_ms[rows],
                "elapsed": load.elapsed_ms[rows],
                "ok": load.correct[rows],
                "user": np.arange(first, first + load.end_ms[rows].size) % load.users + 1,
            }
        )
        yield plain.select(*_columns(label, load.users))


def _columns(label: str, users: int) -> list[pl.Expr]:
    """JMeter's columns in its order; numbers that nothing reads are those of a recorded sample."""
    elapsed, correct = pl.col("elapsed"), pl.col("ok")
    return [
        (pl.col("end_ms") - elapsed).alias("timeStamp"),
        elapsed,
        pl.lit(label).alias("label"),
        pl.when(correct).then(pl.lit("200")).otherwise(pl.lit("503")).alias("responseCode"),
        pl.lit(None).alias("responseMessage"),
        pl.format("user 1-{}", "user").alias("threadName"),
        pl.lit("text").alias("dataType"),
        correct.alias("success"),
        _failure_message(),
        pl.lit(4209).alias("bytes"),
        pl.lit(3409).alias("sentBytes"),
        pl.lit(users).alias("grpThreads"),
        pl.lit(users).alias("allThreads"),
        pl.lit("http://127.0.0.1:8080/matrix/serial?kernel=loops").alias("URL"),
        elapsed.alias("Latency"),
        pl.lit(0).alias("IdleTime"),
        pl.lit(0).alias("Connect"),
        _server_timing(),
    ]


def _failure_message() -> pl.Expr:
    message = pl.when(~pl.col("ok")).then(pl.lit("The status is not 200"))
    return message.alias("failureMessage")


def _server_timing() -> pl.Expr:
    stages = {"queue": 0.05, "parse": 0.1, "compute": 0.6, "serialize": 0.05}
    times = [(pl.col("elapsed") * share).round(3) for share in stages.values()]
    text = ", ".join(f"{stage};dur={{}}" for stage in stages)
    told = pl.when(pl.col("ok")).then(pl.format(text, *times))
    return told.alias("serverTiming")
