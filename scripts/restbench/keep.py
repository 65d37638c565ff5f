"""A copy of a run without its raw data, small enough for git: what it found, and its identity."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from restbench import figures, report, tables
from restbench.measures import Row
from restbench.store import Run


def keep(run: Run, rows: Sequence[Row], kept: Run) -> None:
    """Write tables, figures and report of `run` into the folder of `kept`.

    What was kept there before goes. They are made anew from the rows, so that they link only to
    what is kept with them. The page holds what the raw data tell over time, which nothing else
    does once they are gone.
    """
    for source, target in zip(run.identity_files(), kept.identity_files(), strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        if source.exists():
            shutil.copyfile(source, target)
    shutil.rmtree(kept.figures, ignore_errors=True)
    tables.write(kept, rows)
    figures.write(kept, rows)
    report.write(kept, rows, raw=run)
