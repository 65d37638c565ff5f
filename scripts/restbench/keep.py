"""A copy of a run without its raw data, small enough for git: what it found, and its identity."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from restbench import figures, report, tables
from restbench.measures import Row
from restbench.store import Run


def keep(run: Run, rows: Sequence[Row], kept: Run) -> None:
    """Write tables, figures and report of `run` into the folder of `kept`.

    They are made anew from the rows, so that they link only to what is kept with them. The page
    holds what the raw data tell over time, which nothing else does once they are gone.
    """
    for source, target in zip(run.identity_files(), kept.identity_files(), strict=True):
        if source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    tables.write(kept, rows)
    figures.write(kept, rows)
    report.write(kept, rows, raw=run)
