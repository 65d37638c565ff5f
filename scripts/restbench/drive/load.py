"""One JMeter run of a plan that writes a JTL: started, stopped at its end."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from restbench import ROOT
from restbench.drive.payload import BODY_REST, ROWS
from restbench.experiment.cell import Cell
from restbench.failures import EnvironmentProblem
from restbench.machine import process
from restbench.store.cell_folder import CellFolder

PLANS = ROOT / "jmeter-plans"
PLAN = PLANS / "closed-load.jmx"
OPEN_PLAN = PLANS / "open-load.jmx"
LAUNCHER = PLANS / "jmeter.sh"
HOME = PLANS / "target" / "apache-jmeter"
#: The sampler of trials, and what makes many dashboards in one JVM.
PROGRAMS = HOME / "lib" / "ext" / "restbench-programs.jar"
START_TIMEOUT_S = 60.0
POLL_S = 0.02
#: JMeter's own log says this when its users begin to send.
STARTED = "All thread groups have been started"


def require_jmeter() -> None:
    """EnvironmentProblem when JMeter has not been set up, or has no Java to run on."""
    if not _jars():
        raise EnvironmentProblem("JMeter is not set up: run 'make setup'")
    java = str(Path(os.environ.get("JAVA_HOME", ""), "bin", "java"))
    if shutil.which(java if "JAVA_HOME" in os.environ else "java") is None:
        raise EnvironmentProblem(
            "JMeter's Java is missing: apt-get install openjdk-17-jdk-headless, or set JAVA_HOME"
        )


def command(properties: dict[str, str], folder: CellFolder, plan: Path = PLAN) -> list[str]:
    """JMeter's whole command line for one run; the launcher holds the JVM's flags."""
    settings = [f"-J{name}={value}" for name, value in properties.items()]
    files = ["-l", str(folder.samples), "-j", str(folder.load_log)]
    return [str(LAUNCHER), "-n", "-t", str(plan), *files, *settings]


@dataclass(frozen=True)
class Target:
    """What a JMeter run is to send, and where to."""

    cell: Cell
    address: tuple[str, int]
    payload: Path
    """The folder with `body-rest.json` and `rows.json`."""
    duration_s: float
    """JMeter ends after this time even if nobody stops it."""
    plan: Path = PLAN
    more: Mapping[str, str] = field(default_factory=dict)
    """Properties that only this plan has."""


def properties(target: Target) -> dict[str, str]:
    """The plan's properties for a cell (jmeter-plans/README.md describes each)."""
    cell = target.cell
    return {
        "host": target.address[0],
        "port": str(target.address[1]),
        "strategy": cell.strategy,
        "kernel": cell.kernel,
        "users": str(cell.users),
        "duration_s": str(round(target.duration_s)),
        "payload": str(target.payload.resolve()),
        "label": cell.id,
    } | dict(target.more)


@dataclass
class LoadRun:
    """A running JMeter."""

    process: subprocess.Popen[bytes]
    folder: CellFolder
    command: str
    stopped: bool = False

    @property
    def pid(self) -> int:
        """The process id of JMeter's JVM (`setpriv` and `taskset` become it)."""
        return self.process.pid

    def await_started(self) -> None:
        """Return when the users begin to send; EnvironmentProblem when JMeter ends before."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            if STARTED in self._log():
                return
            time.sleep(POLL_S)
        raise EnvironmentProblem(f"JMeter did not start a test; its log ends:\n{self.why_ended()}")

    def _log(self) -> str:
        path = self.folder.load_log
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def why_ended(self) -> str:
        """The end of JMeter's log or, where it never wrote one, of its launcher's output."""
        log, output = self.folder.load_log, self.folder.load_output
        return process.tail(log if log.exists() else output)

    def running(self) -> bool:
        """Whether JMeter is still alive."""
        return self.process.poll() is None

    def stop(self) -> None:
        """End the load at once. Each line reached the JTL in one write, so killing loses no more
        than the requests in flight; a polite end would go on sending, unrecorded, or add a failed
        sample for each request in flight (jmeter-plans/README.md measures the ways). Once: later
        its process id may be another's."""
        if self.stopped:
            return
        self.stopped = True
        process.stop(self.process, signal.SIGKILL)


def start(target: Target, folder: CellFolder, cores: str | None) -> LoadRun:
    """Start JMeter; its samples go to a fresh file (JMeter would append to an old one)."""
    for path in (target.payload / name for name in (BODY_REST, ROWS)):
        if not path.exists():
            raise EnvironmentProblem(f"{path} is missing: JMeter would send another body")
    folder.samples.unlink(missing_ok=True)
    folder.load_log.unlink(missing_ok=True)
    folder.load_output.unlink(missing_ok=True)
    line = process.bound_to_us(command(properties(target), folder, target.plan), cores)
    started = process.start(line, folder.load_output)
    return LoadRun(started, folder, shlex.join(line))


def version() -> str:
    """JMeter's version, from the name of its jar."""
    return _jars()[0].stem.rpartition("-")[2]


def _jars() -> list[Path]:
    return sorted(HOME.glob("bin/ApacheJMeter-*.jar"))
