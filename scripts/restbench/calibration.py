"""The calibrations that were made: which of them holds for a machine."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from restbench import machine, store, writing
from restbench.records import Calibration
from restbench.store import Run


def newest_for(
    identity: Mapping[str, str | int], folder: Path = store.CALIBRATIONS
) -> Calibration | None:
    """The newest calibration of the machine with this identity (`machine.identity`), if any.

    BadConfiguration where a file in the folder is none.
    """
    made = (store.read_model(path, Calibration) for path in folder.glob("*.json"))
    fitting = [each for each in made if machine.same(each.machine, identity)]
    return max(fitting, key=lambda each: datetime.fromisoformat(each.made), default=None)


def adopt(run: Run, folder: Path = store.CALIBRATIONS) -> None:
    """Put a copy of the newest calibration of the run's machine beside the run.

    The copy stays as it is where the folder has none for that machine: a run that was carried to
    another one keeps its own.
    """
    if not run.machine_file.exists():
        return
    described = run.machine()
    newest = newest_for(machine.identity(described), folder)
    if newest is not None:
        writing.write_model(run.calibration_file, newest)


def keep(calibration: Calibration, folder: Path = store.CALIBRATIONS) -> Path:
    """Write a calibration under the time it was made at; returns the file."""
    path = folder / f"{calibration.made[:19].replace(':', '-')}.json"
    writing.write_model(path, calibration)
    return path
