"""A copy of a run without its raw data, small enough for git: what it found, and its identity."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from restbench.analyse.measures import Row
from restbench.analyse.npb_results import NpbRow
from restbench.show import figures, npb_figure, npb_report, report, tables
from restbench.store.store import Run


def keep(run: Run, rows: Sequence[Row], kept: Run) -> None:
    """Write tables, figures and report of `run` into the folder of `kept`.

    What was kept there before goes. They are made anew from the rows, so that they link only to
    what is kept with them. The page holds what the raw data tell over time, which nothing else
    does once they are gone.
    """
    _keep_identity(run, kept)
    tables.write(kept, rows)
    figures.write(kept, rows)
    report.write(kept, rows, raw=run)


def keep_kernels(run: Run, rows: Sequence[NpbRow], kept: Run) -> None:
    """The same of an NPB run, which has tables and figures of its own, and no page."""
    _keep_identity(run, kept)
    npb_figure.write(kept, rows)  # first: the page shows what has been drawn
    npb_report.write(kept, npb_report.findings(run, rows))


def _keep_identity(run: Run, kept: Run) -> None:
    for source, target in zip(run.identity_files(), kept.identity_files(), strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        if source.exists():
            shutil.copyfile(source, target)
    shutil.rmtree(kept.figures, ignore_errors=True)
