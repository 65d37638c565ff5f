"""A calibration that a later start of the service on the same machine need not do again."""

import json
import logging
import os
import platform
import stat
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec
import numpy as np

from ..affinity import allowed_cores
from .costs import Costs

MOST_NS = 1e12
"""No part of a request takes a quarter of an hour."""
MOST_BYTES = 1024 * 1024
"""Of a file: a thousand times what a calibration takes."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Kept:
    machine: Mapping[str, str]
    costs: Costs


@dataclass(frozen=True)
class CalibrationFile:
    """Where it is kept. `versions` are those of what is measured, beside the machine's own facts.

    Nothing is kept without a path. What cannot be read or written is said in the log, and the
    service calibrates at each start.
    """

    path: Path | None
    versions: Mapping[str, str]

    def read(self, kinds: Collection[str]) -> Costs | None:
        """The costs of these kinds at least, each a number that can have been measured.

        If they were measured by the same versions on this machine, by this user or root.
        """
        if self.path is None:
            return None
        try:
            kept = msgspec.json.decode(_own_text(self.path), type=_Kept)
            if kept.machine != self._machine():
                _LOG.info("%s is of another machine or version: calibrating anew", self.path)
                return None
            _check(kept.costs, kinds)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:  # msgspec's errors are among them
            _LOG.warning("%s is not believed, calibrating anew: %s", self.path, error)
            return None
        return kept.costs

    def write(self, costs: Costs) -> None:
        """Whole or not at all."""
        if self.path is None:
            _LOG.info("the calibration is not kept: there is no file for it")
            return
        text = json.dumps({"machine": self._machine(), "costs": asdict(costs)}, indent=1)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _replace(self.path, text)
        except OSError as error:
            _LOG.info("the calibration cannot be kept in %s: %s", self.path, error)

    def _machine(self) -> dict[str, str]:
        return {
            "cores": ",".join(map(str, allowed_cores())),
            "processor": _processor(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            **self.versions,
        }


NOT_KEPT = CalibrationFile(None, {})


def _own_text(path: Path) -> bytes:
    """Of a plain file of this user or root. Raises OSError, and ValueError for any other."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe waits for none
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a plain file")
        if status.st_uid not in (0, os.getuid()):
            raise ValueError("it belongs to another user")
        return file.read(MOST_BYTES)


def _check(costs: Costs, kinds: Collection[str]) -> None:
    """Raises ValueError for costs that no calibration finds."""
    missing = set(kinds) - set(costs.kinds)
    if missing:
        raise ValueError(f"it lacks {', '.join(sorted(missing))}")
    numbers = [costs.trip_ns, costs.trip_ns_per_byte]
    for kind in costs.kinds.values():
        numbers += (kind.fixed_ns, kind.ns_per_byte, kind.ns_per_operation)
    if not all(0 <= number < MOST_NS for number in numbers):
        raise ValueError("it has a time that nothing takes")


def _replace(path: Path, text: str) -> None:
    """Its content, whole or not at all. Raises OSError, and leaves nothing beside it."""
    with NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        try:
            file.write(text)
            file.flush()
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink()
            raise


def _processor() -> str:
    """The model's name, as the kernel says it; what Python knows of it elsewhere than on x86."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
