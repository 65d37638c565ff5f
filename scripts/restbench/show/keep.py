"""A copy of a run without its raw data, small enough for git: what it found, and its identity."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence

from restbench.analyse.measures import Row
from restbench.analyse.npb_results import NpbRow
from restbench.show import export, figures, npb_figure, npb_report, report
from restbench.store.store import Run


def keep(run: Run, rows: Sequence[Row], kept: Run, note: Callable[[str], None]) -> None:
    """Write `run.json`, figures and page of `run` into the folder of `kept`; what was kept there
    before goes. Tables and verdicts can be made of `run.json`, and `compare` takes it. Figures and
    page are made anew from the rows, so that they link only to what is kept with them.
    """
    _keep_identity(run, kept)
    shutil.copyfile(export.write(run, rows, note), kept.exported_file)
    figures.write(kept, rows)
    report.write(kept, rows, raw=run)


def keep_kernels(run: Run, rows: Sequence[NpbRow], kept: Run) -> None:
    """The same of an NPB run, which has tables and figures of its own, and no page."""
    _keep_identity(run, kept)
    npb_figure.write(kept, rows)  # first: the page shows what has been drawn
    npb_report.write(kept, npb_report.findings(run, rows))


def _keep_identity(run: Run, kept: Run) -> None:
    shutil.rmtree(kept.path, ignore_errors=True)
    for source, target in zip(run.identity_files(), kept.identity_files(), strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.exists():
            shutil.copyfile(source, target)
