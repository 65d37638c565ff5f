"""A folder with an experiment and its runs, whose services are stubs that go wrong on demand."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import stub_cli
from command_line import Done, let_go_of_the_machine, restbench
from ports import free_port
from waiting import await_true

from restbench.machine import watch
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


#: Whoever runs the tests in the background ignores INT, or HUP, and a process inherits that.
LISTENS_TO_SIGNALS = (str(shutil.which("env")), "--default-signal=INT,HUP")


@dataclass
class Bench:
    """A folder with an experiment and its runs, and the command line to run it."""

    folder: Path

    def experiment(
        self,
        strategies: dict[str, list[str]],
        placement: str = "unbound",
        extra: str = "",
        **profile: object,
    ) -> str:
        """A file whose profile has a block of as few trials as there can be, or what is given, as
        TOML."""
        path = self.folder / "stubbed.toml"
        groups = [
            GROUP.format(service=name, strategies=json.dumps(names), placement=placement)
            for name, names in strategies.items()
        ]
        of_profile = {"minutes": 0.05, "blocks": 1} | profile
        lines = "".join(f"{name} = {value}\n" for name, value in of_profile.items())
        path.write_text(EXPERIMENT + lines + "".join(groups) + extra)
        return str(path)

    def start(
        self, *arguments: str, faults: dict[str, str] | None = None, **environment: str
    ) -> subprocess.Popen[str]:
        """In a process of its own, to be interrupted or killed."""
        return subprocess.Popen(
            [*LISTENS_TO_SIGNALS, sys.executable, str(CLI), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | self._environment(faults) | environment,
        )

    def restbench(
        self, *arguments: str, faults: dict[str, str] | None = None, **environment: str
    ) -> Done:
        """To its end, in this process: what draws and analyses is loaded once for all runs."""
        watch.begin()  # while the machine has its usual name
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (self._environment(faults) | environment).items():
                patch.setenv(name, value)
            stub_cli.put_stubs(patch)
            try:
                return restbench(*arguments)
            finally:
                let_go_of_the_machine()

    def run_of(
        self,
        experiment: str,
        *options: str,
        faults: dict[str, str] | None = None,
        **environment: str,
    ) -> Ran:
        """A whole run of the experiment in this text, with its profile `p`."""
        path = self.folder / "mine.toml"
        path.write_text(experiment)
        arguments = ("run", str(path), "--profile", "p", *options)
        return Ran(self, self.restbench(*arguments, faults=faults, **environment))

    def _environment(self, faults: dict[str, str] | None) -> dict[str, str]:
        return {
            "STUB_RESULTS": str(self.folder),
            "STUB_DIED": str(self.folder / "died"),
            "STUB_FAULTS": json.dumps(faults or {}),
            "JAVA_PORT": str(free_port()),
            "PYTHON_PORT": str(free_port()),
            "RESTBENCH_LOCK": f"restbench-tests-{hash(self.folder):x}",
        }

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

    def running(self, program: str = "") -> list[psutil.Process]:
        """The processes that inherited this folder from us, whose command line has this in it."""
        return [
            process
            for process in psutil.process_iter(["environ", "cmdline"])
            if (process.info["environ"] or {}).get("STUB_RESULTS") == str(self.folder)
            and program in " ".join(process.info["cmdline"] or [])
        ]

    def left_running(self) -> list[str]:
        """What they are called with."""
        return [" ".join(each.info["cmdline"] or [each.name()]) for each in self.running()]

    def still_running(self) -> list[str]:
        """What is left when all that is ending has had its time."""
        await_true(lambda: not self.left_running())
        return self.left_running()

    def began_ms(self, block: int) -> list[int]:
        """When its trials began, of a block."""
        return [each.began_ms for each in self.latest.trials.trials() if each.block == block]

    def await_trial(self, started: subprocess.Popen[str]) -> None:
        """Return when the run that goes on has a trial."""

        def is_there() -> bool:
            assert started.poll() is None, started.communicate()
            return bool(self.latest.trials.trials())

        assert await_true(is_there), "no trial came"


@dataclass
class Ran:
    """A bench after one run."""

    bench: Bench
    done: Done

    @property
    def code(self) -> int:
        return self.done.returncode

    @property
    def told(self) -> str:
        return self.done.stdout + self.done.stderr

    @property
    def run(self) -> Run:
        return self.bench.latest
