"""The files of a run: tables for programs, figures, and a copy of it, small enough for git."""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from restbench.analyse.measures import Row
from restbench.experiment import columns
from restbench.show import report, views, wording
from restbench.show.charts import theme
from restbench.show.findings import Findings
from restbench.store import exported
from restbench.store.store import Run
from restbench.store.writing import write_json, write_model, write_text

#: The chart that a kept copy of a run of the study has as an SVG file, for documents that show it.
#: The page draws all charts.
KEPT_FIGURE = "overview"
#: The significant digits of a view's tables. The last bits of a sum depend on the CPU.
_DIGITS = 12


def write_tables(found: Findings) -> None:
    """Write the test matrix, and the tables of the run's views, to `tables/`."""
    write_text(found.folder.test_matrix_csv, matrix_csv(found.rows))
    for view, its in found.views:
        for path, records in view.records(found.folder, its).items():
            if isinstance(records, Mapping):
                write_json(path, records)
            elif records:
                write_text(path, as_csv([wording.rounded_record(it, _DIGITS) for it in records]))


def write_figures(found: Findings, names: tuple[str, ...] = ("",)) -> list[Path]:
    """Write the charts whose names begin with one of `names`, by default all, as SVG files; returns
    the files."""
    written = {
        found.folder.named_figure(name): chart
        for name, chart in found.charts.items()
        if name.startswith(names)
    }
    for path, chart in written.items():
        write_text(path, theme.svg(chart))
    return list(written)


def matrix_csv(rows: Iterable[Row]) -> str:
    """The test matrix as CSV, a line per cell: the study's columns, then the ends of intervals. An
    unknown value is an empty field; numbers have as many digits as in `run.json`."""
    records = [wording.rounded_record({**row.record(), **_ends(row)}, 6) for row in rows]
    return as_csv(records, (*columns.NAMES, *columns.ENDS))


def as_csv(records: Sequence[Mapping[str, object]], names: Sequence[str] = ()) -> str:
    """Records as CSV. The columns are `names`, or the fields of the first record where none are
    given."""
    text = io.StringIO()
    writer = csv.DictWriter(text, names or list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _ends(row: Row) -> dict[str, float | None]:
    """The ends of the intervals over blocks, by column."""
    ends = [end for metric in columns.WITH_ENDS for end in row.ends(metric)]
    return dict(zip(columns.ENDS, ends, strict=True))


def keep(run: Run, kept: Run, assets: Path) -> None:
    """Write manifest, `run.json`, tables, figure and page of `run` into the folder of `kept`, whose
    contents are deleted first. `run.json` has everything that is known of machine, proofs,
    calibration and interruptions; the page is made from it alone. `assets` is the folder of the
    style, scripts and chart library that all kept pages share.
    """
    shutil.rmtree(kept.path, ignore_errors=True)
    kept.path.mkdir(parents=True)
    # The plan (the order of measuring) belongs to the raw data: it would be a third of the copy.
    write_model(kept.manifest_file, run.manifest().model_copy(update={"plan": ()}))
    shutil.copyfile(run.exported_file, kept.exported_file)
    show_kept(kept, assets)


def show_kept(kept: Run, assets: Path) -> None:
    """Write tables, figure and page of a kept copy; existing ones are replaced."""
    for folder in (kept.figures, kept.test_matrix_csv.parent):
        shutil.rmtree(folder, ignore_errors=True)
    found = views.drawn(exported.read(kept.exported_file), kept)
    if any(name.startswith("figure-") for name in found.charts):
        write_figures(found, (KEPT_FIGURE,))
    write_tables(found)
    report.write(found, Path(os.path.relpath(assets, kept.path)).as_posix())
