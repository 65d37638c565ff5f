"""The samples of a JTL, JMeter's log (a CSV file), a piece of the file at a time: what is kept of a
piece is the reader's affair."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from restbench.experiment.records import Window
from restbench.failures import BadConfiguration
from restbench.machine.whole_lines import pieces

OUTCOMES = pl.Enum(["correct", "wrong-answer", "error"])

_TYPES = {
    "timeStamp": pl.Int64,
    "elapsed": pl.Int64,
    "responseCode": pl.String,  # a number, or words such as `Non HTTP response code: ...`
    "success": pl.String,
    "bytes": pl.Int64,
    "serverTiming": pl.String,
}
#: The column of a mixed load that says which kind of request a sample was.
KIND = "kind"
#: The column of a load whose sender has a finer clock than JMeter: microseconds.
FINE = "elapsed_us"
#: What only some loads tell.
_MORE_TYPES = {KIND: pl.String(), FINE: pl.Int64()}
END_MS = pl.col("timeStamp") + pl.col("elapsed")


def counted_columns(path: Path) -> Iterator[pl.DataFrame]:
    """The columns that count, with each sample's `outcome`, and its kind and elapsed_us where the
    load tells them; a frame without rows for a file without samples. A cut-off end is left out.

    BadConfiguration where the file is missing, is no JTL or lacks a column.
    """
    for frame in _read(path, [*_TYPES, *_MORE_TYPES]):
        more = {name: kind for name, kind in _MORE_TYPES.items() if name in frame.columns}
        yield frame.with_columns(_outcome(), *_as(more))


def ends_in(window: Window) -> pl.Expr:
    """Whether a sample's END lies in the window (method, rule 4), in any of its turns."""
    return pl.any_horizontal(
        END_MS.is_between(start_ms, end_ms, closed="left") for start_ms, end_ms in window.parts
    )


def unreadable(path: Path, error: Exception) -> BadConfiguration:
    """What to say of a file that has no samples of a load."""
    cause = str(error).strip().partition("\n")[0]
    return BadConfiguration(f"{path}: not a JTL with the columns {', '.join(_TYPES)}: {cause}")


def _as(types: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    return [pl.col(name).cast(kind, strict=False) for name, kind in types.items()]


def _read(path: Path, wanted: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Those of the wanted columns that are there."""
    empty = True
    try:
        for piece in pieces(path):
            columns = [name for name in _header(piece) if name in wanted]
            frame = pl.read_csv(piece, columns=columns, infer_schema=False, schema_overrides=_TYPES)
            _require_columns(path, frame)
            empty = False
            yield frame
    except OSError as error:
        raise BadConfiguration(f"{path}: cannot be read: {error.strerror}") from error
    except pl.exceptions.PolarsError as error:
        raise unreadable(path, error) from error
    if empty:
        raise unreadable(path, ValueError("empty CSV"))


def _header(piece: bytes) -> list[str]:
    return next(csv.reader([piece[: piece.index(b"\n")].decode(errors="replace")]))


def _require_columns(path: Path, frame: pl.DataFrame) -> None:
    if missing := [name for name in _TYPES if name not in frame.columns]:
        raise unreadable(path, ValueError(f"without {', '.join(missing)}"))


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
