"""What was found of a machine, to be quoted by the runs that are made on it: the newest holds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from restbench import machine, store, writing
from restbench.microbench_records import Microbench
from restbench.records import Calibration
from restbench.store import Run

Finding = TypeVar("Finding", Calibration, Microbench)


def newest_for(
    kind: type[Finding], identity: Mapping[str, str | int], folder: Path
) -> Finding | None:
    """The newest of its kind of the machine with this identity (`machine.identity`), if any.

    BadConfiguration where a file in the folder is none.
    """
    made = (store.read_model(path, kind) for path in folder.glob("*.json"))
    fitting = [each for each in made if machine.same(each.machine, identity)]
    return max(fitting, key=lambda each: datetime.fromisoformat(each.made), default=None)


def adopt(kind: type[Finding], run: Run, beside: Path, folder: Path) -> None:
    """Put a copy of the newest one of the run's machine beside the run.

    The copy stays as it is where the folder has none for that machine: a run that was carried to
    another one keeps its own.
    """
    if not run.machine_file.exists():
        return
    newest = newest_for(kind, machine.identity(run.machine()), folder)
    if newest is not None:
        writing.write_model(beside, newest)


def keep(found: Calibration | Microbench, folder: Path) -> Path:
    """Write one under the time it was made at; returns the file."""
    path = folder / f"{found.made[:19].replace(':', '-')}.json"
    writing.write_model(path, found)
    return path
