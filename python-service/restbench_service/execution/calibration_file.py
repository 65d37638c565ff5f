"""A calibration that a later start of the service on the same machine need not do again."""

import json
import logging
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec
import numpy as np

from ..affinity import allowed_cores
from .costs import Costs

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

    def read(self) -> Costs | None:
        """The costs, if they were measured by the same versions on this machine, by this user."""
        if self.path is None:
            return None
        try:
            with self.path.open("rb") as file:
                if os.fstat(file.fileno()).st_uid != os.getuid():
                    _LOG.warning("%s belongs to another user: calibrating anew", self.path)
                    return None
                kept = msgspec.json.decode(file.read(), type=_Kept)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            _LOG.warning("%s cannot be read, calibrating anew: %s", self.path, error)
            return None
        if kept.machine != self._machine():
            _LOG.info("%s is of another machine or version: calibrating anew", self.path)
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
            with NamedTemporaryFile("w", dir=self.path.parent, delete=False) as file:
                file.write(text)
            Path(file.name).replace(self.path)
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


def _processor() -> str:
    """The model's name, as the kernel says it; what Python knows of it elsewhere than on x86."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
