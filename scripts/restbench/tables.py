"""Writes the test matrix of a run, and gives it to the terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from restbench import columns, markdown, measures, regret_report, regret_text
from restbench.measures import Row
from restbench.store import Run
from restbench.terminal import render as terminal
from restbench.writing import write_text

__all__ = ["as_csv", "terminal", "write"]

_DECIMALS = 3


def write(run: Run, rows: Sequence[Row] | None = None) -> None:
    """Write test-matrix.csv and test-matrix.md of a run (`rows` where they are known already), and
    regret.csv and regret.md where a strategy chooses."""
    known = measures.rows(run) if rows is None else rows
    write_text(run.test_matrix_csv, as_csv(known))
    write_text(run.test_matrix_markdown, markdown.document(run, known))
    if (found := regret_text.choosing(known)).regrets:
        regret_report.write(run, found)


def as_csv(rows: Iterable[Row]) -> str:
    """A line a cell, in the columns of the study; an unknown value is an empty field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns.NAMES, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _rounded(value) for name, value in row.record().items()})
    return text.getvalue()


def _rounded(value: object) -> object:
    return round(value, _DECIMALS) if isinstance(value, float) else value
