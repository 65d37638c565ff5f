"""A harness at work in a place of its own: what chaos kills."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from ports import free_port

from restbench.machine import process

CLI = Path(__file__).with_name("stub_cli.py")
PORTS = ("JAVA_PORT", "PYTHON_PORT")
RUN_TIMEOUT_S = 600.0
EXPERIMENT = """
name = "chaos"
title = "What chaos kills"
seed = 3

[complexities]
tiny = { rows = 2, inner = 2, columns = 2 }

[profiles.p]
minutes = 0.1
blocks = 2
warm_max_s = { java = 0.1, python = 0.1 }

[[cells]]
name = "Java"
service = "java"
strategy = ["serial", "pinned"]
complexity = "tiny"
users = 2

[[cells]]
name = "Python"
service = "python"
strategy = "process-per-element"
complexity = "tiny"
users = 2
front = "{front}"
"""
APACHE = Path("/usr/sbin/apache2")


@dataclass
class Place:
    """A folder with an experiment, temporary files and results, and ports."""

    folder: Path
    real: bool = False
    """Whether the Java service is no stub."""
    ports: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        """Lay the experiment down."""
        self.ports = {name: free_port() for name in PORTS}
        self.temporary.mkdir(parents=True)
        front = "apache" if APACHE.exists() else "none"
        self.experiment.write_text(EXPERIMENT.replace("{front}", front))

    @property
    def experiment(self) -> Path:
        """Its file."""
        return self.folder / "chaos.toml"

    @property
    def temporary(self) -> Path:
        """Where everything that is started puts its temporary files: nobody else does."""
        return self.folder / "tmp"

    @property
    def lock(self) -> str:
        """The name of the lock that stands for the machine here."""
        return f"restbench-{self.folder.name}"

    def results(self, name: str) -> Path:
        """The results of a run and of all that goes on with it."""
        return self.folder / name

    def environment(self, name: str) -> dict[str, str]:
        """What a harness is started with."""
        return {
            "STUB_RESULTS": str(self.results(name)),
            "STUB_SERVICES": "" if self.real else "java",
            "STUB_DIED": str(self.folder / "died"),
            "TMPDIR": str(self.temporary),
            "RESTBENCH_LOCK": self.lock,
        } | {variable: str(port) for variable, port in self.ports.items()}


class Harness:
    """`restbench run`, as a person starts it: the leader of a process group."""

    def __init__(self, place: Place, name: str, *, resume: bool = False) -> None:
        """Start it."""
        self.place, self.results = place, place.results(name)
        self.results.mkdir(exist_ok=True)
        self._output = place.folder / f"{name}.out"
        more = ["--resume"] if resume else []
        command = [sys.executable, str(CLI), "run", str(place.experiment), "--profile", "p", *more]
        listening = ["env", "--default-signal=INT", *command]  # in the background it is ignored
        with self._output.open("ab") as output:
            self.process = subprocess.Popen(
                process.bound_to_us(listening),  # who interrupts chaos interrupts it as well
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                env=os.environ | place.environment(name),
            )
        self._begun = time.monotonic()

    @property
    def pid(self) -> int:
        """Its process, and its group."""
        return self.process.pid

    def age_s(self) -> float:
        """How long ago it was started."""
        return time.monotonic() - self._begun

    def runs(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def wait(self) -> int:
        """Its exit code; one that hangs is ended, and its code is a signal's."""
        try:
            return self.process.wait(RUN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def told(self) -> str:
        """The end of what it printed."""
        return self._output.read_text(errors="replace")[-2000:]
