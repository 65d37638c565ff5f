"""A real harness with real children, for a test to kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from other_process import SLEEPS, beside, line_of
from waiting import await_true

#: A service whose own child leaves its parent, session and process group, as a daemon does.
SERVICE = f"""
import subprocess, sys, time
daemon = subprocess.Popen([sys.executable, "-c", {SLEEPS!r}], start_new_session=True)
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
kept = process.start([sys.executable, "-c", {SLEEPS!r}], folder / "kept", outlives_us=True)
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
    process: subprocess.Popen[str]
    told: dict[str, int] = field(init=False)
    temporary: Path = field(init=False)

    def __post_init__(self) -> None:
        self.told = json.loads(line_of(self.process))
        self.temporary = Path(str(self.told.pop("temporary")))

    def do(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert line_of(self.process) == "done"

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
    with beside(HARNESS, str(folder)) as process:
        running = Harness(folder, process)
        try:
            yield running
        finally:
            process.kill()
            process.wait()
            await_true(lambda: gone(running.told["guardian"]))
            os.kill(running.told["kept"], signal.SIGKILL)
