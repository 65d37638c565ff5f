"""The calibrations that were made: which of them holds for a machine."""

from __future__ import annotations

from pathlib import Path

from restbench.experiment.records import Calibration
from restbench.machine.machine import Identity
from restbench.store import machine_findings, store
from restbench.store.machine_findings import Note
from restbench.store.store import Run


def newest_for(
    identity: Identity, note: Note, folder: Path = store.CALIBRATIONS
) -> Calibration | None:
    """See machine_findings.newest_for."""
    return machine_findings.newest_for(Calibration, identity, folder, note)


def adopt(run: Run, note: Note, folder: Path = store.CALIBRATIONS) -> None:
    """See machine_findings.adopt."""
    machine_findings.adopt(Calibration, run, run.calibration_file, folder, note)


def keep(calibration: Calibration, folder: Path = store.CALIBRATIONS) -> Path:
    """See machine_findings.keep."""
    return machine_findings.keep(calibration, folder)
