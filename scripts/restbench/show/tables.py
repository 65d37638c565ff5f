"""The tables of a run as files: CSV for programs, the page's sections as Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from restbench.analyse.measures import Row
from restbench.experiment import columns
from restbench.judge import regret
from restbench.show import limits, npb, regret_table, report
from restbench.show.findings import Findings
from restbench.store.writing import write_json, write_text

_DECIMALS = 3


def write(found: Findings) -> None:
    """Write `report.md`, and to `tables/` the test matrix and what else the run is about."""
    folder = found.folder
    write_text(folder.test_matrix_csv, as_csv(found.rows))
    report.write_markdown(found)
    if (chosen := regret.choosing(found.rows)).regrets:
        write_text(folder.regret_csv, regret_table.as_csv(chosen))
    if (effects := found.effects) is not None:
        write_json(folder.factorial_json, effects.to_json())
    if found.definition.npb is not None:
        write_text(folder.npb_csv, npb.as_csv(npb.findings(found.run)))
    if (load := found.definition.open) is not None:
        summary, steps = limits.tables(limits.of(found.run), load)
        write_text(folder.open_load_csv, summary)
        write_text(folder.open_load_steps_csv, steps)


def as_csv(rows: Iterable[Row]) -> str:
    """A line a cell: the study's columns, then the ends of intervals; an unknown value is an empty
    field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, (*columns.NAMES, *columns.ENDS), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        fields = row.record() | _ends(row)
        writer.writerow({name: _rounded(value) for name, value in fields.items()})
    return text.getvalue()


def _ends(row: Row) -> dict[str, float | None]:
    """Of the intervals over blocks: column → value."""
    ends = [end for metric in columns.WITH_ENDS for end in row.ends(metric)]
    return dict(zip(columns.ENDS, ends, strict=True))


def _rounded(value: object) -> object:
    return round(value, _DECIMALS) if isinstance(value, float) else value
