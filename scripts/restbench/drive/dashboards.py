"""JMeter's own HTML dashboards (figures 28 to 30 of the study), made from long windows."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from restbench.drive.generator import LAUNCHER
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import process
from restbench.store.store import Run


def windows(run: Run) -> list[str]:
    """The ids of the cells that have a long window, in the plan's order."""
    cells = dict.fromkeys(each.cell.id for each in run.manifest().plan)
    return [cell for cell in cells if run.window(cell).samples.exists()]


def write(run: Run, cell_id: str | None = None) -> list[Path]:
    """Make the dashboard of one cell, BadConfiguration where it has no long window; by default that
    of every cell that has one, all in one JVM. Returns their pages."""
    cells = windows(run)
    if cell_id is not None:
        if cell_id not in cells:
            there = ", ".join(cells) or "none"
            raise BadConfiguration(
                f"run {run.name} has no long window of '{cell_id}'; there are: {there}. The "
                "profile's 'windows' says which cells have one"
            )
        cells = [cell_id]
    if not cells:
        return []
    pairs = {run.dashboard(cell): run.window(cell).samples for cell in cells}
    for target in pairs:
        target.parent.mkdir(parents=True, exist_ok=True)  # JMeter makes the last folder only
        if not (target / "statistics.json").exists():  # half made, and not replaced by the launcher
            shutil.rmtree(target, ignore_errors=True)
    arguments = [str(path) for target, samples in pairs.items() for path in (samples, target)]
    command = process.bound_to_us([str(LAUNCHER), "dashboards", *arguments])
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=process.child_environment()
    )
    if done.returncode != 0:
        raise EnvironmentProblem(f"JMeter's dashboard generator failed: {done.stderr.strip()}")
    return [target / "index.html" for target in pairs]
