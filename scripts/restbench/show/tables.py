"""Writes the test matrix of a run, and gives it to the terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from restbench.analyse import measures
from restbench.analyse.measures import Row
from restbench.experiment import columns
from restbench.judge import regret
from restbench.show import markdown, regret_report
from restbench.show.terminal import render as terminal
from restbench.store.store import Run
from restbench.store.writing import write_text

__all__ = ["as_csv", "terminal", "write"]

_DECIMALS = 3


def write(run: Run, rows: Sequence[Row] | None = None) -> None:
    """Write test-matrix.csv and test-matrix.md of a run (`rows` where they are known already), and
    regret.csv and regret.md where a strategy chooses."""
    known = measures.rows(run) if rows is None else rows
    write_text(run.test_matrix_csv, as_csv(known))
    write_text(run.test_matrix_markdown, markdown.document(run, known))
    if (found := regret.choosing(known)).regrets:
        regret_report.write(run, found)


def as_csv(rows: Iterable[Row]) -> str:
    """A line a cell: the study's columns, then the ends of intervals; an unknown value is an empty
    field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, (*columns.NAMES, *columns.ENDS), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        told = row.record() | _ends(row)
        writer.writerow({name: _rounded(value) for name, value in told.items()})
    return text.getvalue()


def _ends(row: Row) -> dict[str, float | None]:
    """Of the intervals over blocks: column → value."""
    ends = [end for metric in columns.WITH_ENDS for end in row.ends(metric)]
    return dict(zip(columns.ENDS, ends, strict=True))


def _rounded(value: object) -> object:
    return round(value, _DECIMALS) if isinstance(value, float) else value
