"""A folder with an experiment and its runs, whose services are stubs that go wrong on demand."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
from ports import free_port

from restbench.store.store import Run
from restbench.store.trials import Event, Trial

CLI = Path(__file__).with_name("stub_cli.py")
EXPERIMENT = """
name = "stubbed"
title = "A run against stubs"
seed = 3

[complexities]
tiny = { rows = 2, inner = 2, columns = 2 }

[profiles.p]
minutes = 0.1
blocks = 1
warm_max_s = { java = 0.0, python = 0.0 }
"""
GROUP = """
[[cells]]
name = "{service}"
service = "{service}"
strategy = {strategies}
complexity = "tiny"
users = 2
placement = "{placement}"
"""


#: Whoever runs the tests in the background ignores INT, and a process inherits that.
LISTENS_TO_INT = (str(shutil.which("env")), "--default-signal=INT")
#: Seconds that something may take that takes one on a machine with nothing else to do.
PATIENCE_S = 120.0


@dataclass
class Bench:
    """A folder with an experiment and its runs, and the command line to run it."""

    folder: Path

    def experiment(
        self, strategies: dict[str, list[str]], placement: str = "unbound", extra: str = ""
    ) -> str:
        path = self.folder / "stubbed.toml"
        groups = [
            GROUP.format(service=name, strategies=json.dumps(names), placement=placement)
            for name, names in strategies.items()
        ]
        path.write_text(EXPERIMENT + "".join(groups) + extra)
        return str(path)

    def start(
        self, *arguments: str, faults: dict[str, str] | None = None, **environment: str
    ) -> subprocess.Popen[str]:
        given = {
            "STUB_RESULTS": str(self.folder),
            "STUB_DIED": str(self.folder / "died"),
            "STUB_CLOCK": str(self.folder / "clock"),
            "STUB_FAULTS": json.dumps(faults or {}),
            "JAVA_PORT": str(free_port()),
            "PYTHON_PORT": str(free_port()),
            "RESTBENCH_LOCK": f"restbench-tests-{hash(self.folder):x}",
        }
        return subprocess.Popen(
            [*LISTENS_TO_INT, sys.executable, str(CLI), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | given | environment,
        )

    def restbench(
        self, *arguments: str, faults: dict[str, str] | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        started = self.start(*arguments, faults=faults, **environment)
        out, err = started.communicate(timeout=400)
        return subprocess.CompletedProcess(arguments, started.returncode, out, err)

    @property
    def latest(self) -> Run:
        return Run(self.folder / "latest")

    def trials(self, strategy: str) -> list[Trial]:
        return [each for each in self.latest.trials.trials() if f"-{strategy}-" in each.cell]

    def events(self, kind: str) -> list[Event]:
        return [each for each in self.latest.trials.events() if each.kind == kind]

    def row(self, strategy: str, service: str = "java") -> dict[str, str]:
        with self.latest.test_matrix_csv.open() as table:
            return next(
                row
                for row in csv.DictReader(table)
                if (row["service"], row["strategy"]) == (service, strategy)
            )

    def left_running(self) -> list[str]:
        """Every process that inherited this bench's folder from us."""
        return [
            " ".join(process.info["cmdline"] or [process.name()])
            for process in psutil.process_iter(["environ", "cmdline"])
            if (process.info["environ"] or {}).get("STUB_RESULTS") == str(self.folder)
        ]

    def running(self, program: str) -> list[psutil.Process]:
        """Those of them whose command line has this in it."""
        return [
            process
            for process in psutil.process_iter(["environ", "cmdline"])
            if (process.info["environ"] or {}).get("STUB_RESULTS") == str(self.folder)
            and program in " ".join(process.info["cmdline"] or [])
        ]

    def still_running(self) -> list[str]:
        """What is left when all that is ending has had its time."""
        deadline = time.monotonic() + PATIENCE_S
        while (left := self.left_running()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return left


@dataclass
class Ran:
    """A bench after one run."""

    bench: Bench
    done: subprocess.CompletedProcess[str]
