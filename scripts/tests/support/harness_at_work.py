"""A real harness with real children, for a test to kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from waiting import await_true

#: Starts a service whose own child leaves its parent, session and process group, as a daemon does.
DAEMON = "import time; time.sleep(600)"
SERVICE = f"""
import subprocess, sys, time
daemon = subprocess.Popen([sys.executable, "-c", {DAEMON!r}], start_new_session=True)
print(daemon.pid, flush=True)
time.sleep(600)
"""
HARNESS = f"""
import json, os, sys, time
from pathlib import Path
from restbench.machine import process, watch
from restbench.store.folders import BEGUN
folder = Path(sys.argv[1])
watch.at_end("tidy", folder)
ours = [sys.executable, "-c", {SERVICE!r}]
bound = process.start(process.bound_to_us(ours), folder / "daemon")
kept = process.start(
    [sys.executable, "-c", "import time; time.sleep(600)"], folder / "kept", outlives_us=True
)
while not (folder / "daemon").read_text().strip():
    time.sleep(0.01)
temporary = watch.begin()
(temporary / "of-a-child").write_text("x")
(folder / "sub").mkdir()
(folder / "sub" / f".run.json.{{os.getpid()}}.tmp").write_text("{{")
(folder / "sub" / "run.json").write_text("{{}}")
for name in ("begun", "never-begun", "measured"):
    (folder / name).mkdir()
    watch.at_end("unless", folder / name, *BEGUN)
(folder / "begun" / "manifest.json").write_text("{{}}")
(folder / "measured" / "trials.sqlite").write_text("measured")
(folder / "never-begun" / "payloads").mkdir()
print(json.dumps({{
    "service": bound.pid,
    "daemon": int((folder / "daemon").read_text()),
    "kept": kept.pid,
    "guardian": next(iter(watch._watches.values())).process.pid,
    "temporary": str(temporary),
}}), flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@dataclass
class Harness:
    """A harness at work: a service of it, a daemon of that, a process meant to stay."""

    folder: Path
    process: subprocess.Popen[str] = field(init=False)
    told: dict[str, int] = field(init=False)
    temporary: Path = field(init=False)

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HARNESS, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.told = self._line()
        self.temporary = Path(str(self.told.pop("temporary")))

    def _line(self) -> dict[str, int]:
        assert self.process.stdout is not None
        found: dict[str, int] = json.loads(self.process.stdout.readline())
        return found

    def do(self, line: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def kill(self, *names: str) -> None:
        """In the order of the names; `harness` is the harness."""
        for name in names:
            os.kill(self.told.get(name, self.process.pid), signal.SIGKILL)

    def ended_by(self, told: list[str]) -> bool:
        """Whether its daemon is among the leftovers that were ended: others may leave some, too."""
        return any(f"(pid {self.told['daemon']})" in line for line in told)

    def left(self) -> list[str]:
        """What should be gone and is not."""
        running = [name for name in ("service", "daemon", "guardian") if not gone(self.told[name])]
        return running + (["temporary"] if self.temporary.exists() else [])


@contextmanager
def at_work(folder: Path) -> Iterator[Harness]:
    running = Harness(folder)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()
        for pipe in (running.process.stdin, running.process.stdout):
            if pipe:
                pipe.close()
        await_true(lambda: gone(running.told["guardian"]))
        os.kill(running.told["kept"], signal.SIGKILL)
