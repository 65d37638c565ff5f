"""The calibrations that were made: which of them holds for a machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from restbench import store
from restbench.records import Calibration


def newest_for(
    identity: Mapping[str, str | int], folder: Path = store.CALIBRATIONS
) -> Calibration | None:
    """The newest calibration of the machine with this identity (`machine.identity`), if any.

    BadConfiguration where a file in the folder is none.
    """
    made = (store.read_model(path, Calibration) for path in folder.glob("*.json"))
    fitting = [each for each in made if each.machine == identity]
    return max(fitting, key=lambda each: each.made, default=None)


def keep(calibration: Calibration, folder: Path = store.CALIBRATIONS) -> Path:
    """Write a calibration under the time it was made at; returns the file."""
    path = folder / f"{calibration.made[:19].replace(':', '-')}.json"
    store.write_model(path, calibration)
    return path
