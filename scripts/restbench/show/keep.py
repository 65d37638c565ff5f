"""A copy of a run without its raw data, small enough for git: what it found, and its identity."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from restbench.show import pictures, report, tables
from restbench.show.findings import Findings
from restbench.store import exported
from restbench.store.store import Run
from restbench.store.writing import write_model

#: Charts that its page draws as well as any other, and whose files would be a tenth of the copy.
DETAILS = ("stages-shares", "series-course")


def keep(run: Run, kept: Run, library: Path) -> None:
    """Write `run.json`, tables, figures and page of `run` into the folder of `kept`; what was kept
    there before goes. Everything is made of `run.json`, so that it links only to what is kept with
    it. `library` is the file of the chart library that all kept pages share.
    """
    _keep_identity(run, kept)
    shutil.copyfile(run.exported_file, kept.exported_file)
    found = Findings(exported.read(kept.exported_file), kept)
    pictures.write(found, left_out=DETAILS)
    tables.write(found)
    report.write(found, Path(os.path.relpath(library, kept.path)).as_posix())


def _keep_identity(run: Run, kept: Run) -> None:
    shutil.rmtree(kept.path, ignore_errors=True)
    for source, target in zip(run.identity_files(), kept.identity_files(), strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.exists():
            shutil.copyfile(source, target)
    # In which order cells were measured is part of the raw data: it would be a third of the copy.
    write_model(kept.manifest_file, run.manifest().model_copy(update={"plan": ()}))
