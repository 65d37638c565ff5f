"""A copy of a run without its raw data, small enough for git: what it found, and its identity."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence

from restbench.analyse.measures import Row
from restbench.experiment import experiment
from restbench.show import export, figures, limits, npb, report
from restbench.store import exported
from restbench.store.store import Run


def keep(run: Run, rows: Sequence[Row], kept: Run, note: Callable[[str], None]) -> None:
    """Write `run.json`, figures and page of `run` into the folder of `kept`; what was kept there
    before goes. Tables and verdicts can be made of `run.json`, and `compare` takes it. What its
    views show is made anew, so that it links only to what is kept with it.
    """
    _keep_identity(run, kept)
    shutil.copyfile(export.write(run, rows, note), kept.exported_file)
    told, views = exported.read(kept.exported_file), experiment.load(run.experiment_file).views
    if "study" in views:
        figures.write(kept, rows)
        report.write(kept, rows, raw=run)
    if "limits" in views:
        limits.write(kept, told, limits.of(told))
    if "npb" in views:
        npb.write(kept, npb.findings(told))


def _keep_identity(run: Run, kept: Run) -> None:
    shutil.rmtree(kept.path, ignore_errors=True)
    for source, target in zip(run.identity_files(), kept.identity_files(), strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.exists():
            shutil.copyfile(source, target)
