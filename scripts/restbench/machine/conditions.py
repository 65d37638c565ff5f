"""What must hold around a load from its start to its record: a clock that nobody sets, and a disk
that takes what is written."""

from __future__ import annotations

from pathlib import Path

from restbench.machine import storage
from restbench.machine.clock import ClockWatch


class Conditions:
    """Of one load, whose raw files lie in `folder`."""

    def __init__(self, folder: Path) -> None:
        """They are watched from now on."""
        self._folder = folder
        self._clock = ClockWatch()

    def check(self) -> None:
        """Asked ten times a second while the load goes on; costs microseconds.

        EnvironmentProblem where the clock jumped, StorageProblem where the disk is about to be
        full.
        """
        self._clock.check()
        storage.watch_room(self._folder)

    def check_end(self) -> None:
        """Asked when everything is written, before the record says that it is: the same, and
        StorageProblem where a raw file may be cut off."""
        self._clock.check()
        raw = [each for each in self._folder.iterdir() if each.is_file()]
        storage.require_written(self._folder, *raw)
