"""JMeter's own HTML dashboards (figures 28 to 30 of the study), made from a cell's window."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

from restbench.analyse import jtl
from restbench.drive import load
from restbench.experiment.records import CellRun
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import process
from restbench.machine.phases import spent_on
from restbench.store.cell_folder import CellFolder
from restbench.store.store import Run


@spent_on("dashboards")
def write_study(run: Run) -> list[Path]:
    """The dashboards of every measured cell of the study's tables; returns their pages.

    A cell whose samples cannot be read has none: its row says why.
    """
    return _write(run, [each for each in run.cell_runs() if each[0].test_ids], skip=True)


def write(run: Run, cell_id: str) -> list[Path]:
    """The dashboard of one cell; BadConfiguration where the run has no such cell."""
    found = [each for each in run.cell_runs() if each[0].cell.id == cell_id]
    if not found:
        known = sorted({record.cell.id for record, _ in run.cell_runs()})
        raise BadConfiguration(f"run {run.name} has no cell '{cell_id}'; it has {', '.join(known)}")
    pages = _write(run, found, skip=False)
    if not pages:
        why = next((record.reason for record, _ in found if record.reason), "no sample ended in it")
        raise BadConfiguration(f"cell '{cell_id}' has no window to show: {why}")
    return pages


def _write(run: Run, cells: list[tuple[CellRun, CellFolder]], *, skip: bool) -> list[Path]:
    """One JVM makes them all. Of several blocks the first is shown; a window without a single
    sample has no dashboard."""
    pairs: dict[Path, Path] = {}
    for record, folder in cells:
        target = run.dashboard(record.cell.id)
        if record.window is None or target in pairs:
            continue
        try:
            jtl.write_window(folder.samples, folder.window_samples, record.window)
        except BadConfiguration:
            if not skip:
                raise
            continue
        if _has_samples(folder.window_samples):
            pairs[target] = folder.window_samples
    for target in pairs:
        target.parent.mkdir(parents=True, exist_ok=True)  # JMeter makes the last folder only
    if pairs:
        _generate(pairs)
    return [target / "index.html" for target in pairs]


def _has_samples(samples: Path) -> bool:
    with samples.open(encoding="utf-8") as lines:
        return len(list(itertools.islice(lines, 2))) == 2  # more than the header


def _generate(pairs: dict[Path, Path]) -> None:
    arguments = [str(path) for target, samples in pairs.items() for path in (samples, target)]
    command = process.bound_to_us([str(load.LAUNCHER), "dashboards", *arguments])
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=process.surroundings()
    )
    if done.returncode != 0:
        raise EnvironmentProblem(f"JMeter's dashboard generator failed: {done.stderr.strip()}")
