"""Who can be killed while a benchmark runs."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from chaos_harness import Harness

from restbench.machine import guardian
from restbench.machine.watch import GUARDIAN_VARIABLE

#: What ends the harness itself: whether its whole group gets the signal, and which.
SENT = {
    "harness": (False, signal.SIGKILL),
    "process group": (True, signal.SIGKILL),
    "group by Ctrl-C": (True, signal.SIGINT),
}
#: How the harness ends of it. A Ctrl-C that meets it before it listens ends Python itself: a shell
#: calls that 130, too.
ENDS = {
    "harness": (-signal.SIGKILL,),
    "process group": (-signal.SIGKILL,),
    "group by Ctrl-C": (130, -signal.SIGINT),
}
#: Of those that the harness started: a part of the command line by which each is known.
STARTED = {
    "JMeter": "org.apache.jmeter.NewDriver",
    "service": "stub_service.py|gunicorn|restbench-java.jar",
    "front": "apache2",
    "collector": "sar -A|sadc",
    "pidstat": "pidstat",
}
KINDS = (*SENT, *STARTED, "guardian")


def kill_one(harness: Harness, kind: str, moment_s: float, pick: float) -> str | None:
    """Kill one of a kind as soon as there is one after a moment, `pick` (0 to 1) says which;
    returns its name, None where the harness ended before."""
    while harness.runs():
        if harness.age_s() >= moment_s and (name := _killed(harness, kind, pick)):
            return name
        time.sleep(0.01)
    return None


def _killed(harness: Harness, kind: str, pick: float) -> str | None:
    if kind in SENT:
        group, sent = SENT[kind]
        (os.killpg if group else os.kill)(harness.pid, sent)
        return f"the {kind}"
    found = guardians(harness) if kind == "guardian" else _started(harness, STARTED[kind])
    if not found:
        return None
    victim = sorted(found)[int(pick * len(found))]
    name = f"{kind} {_comm(victim)}"
    guardian.kill([victim])
    return name


def _started(harness: Harness, known_by: str) -> list[int]:
    parts = known_by.split("|")
    return [pid for pid in children(harness) if any(each in _command(pid) for each in parts)]


def children(harness: Harness) -> list[int]:
    """Everything that carries the harness' mark."""
    return [pid for pid, mark in guardian.marks().items() if mark.startswith(f"{harness.pid}-")]


def guardians(harness: Harness) -> list[int]:
    """Those that wait for the harness to end."""
    wanted = f"{GUARDIAN_VARIABLE}={harness.pid}-".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and wanted in _read(entry / "environ"):
            found.append(int(entry.name))
    return found


def _command(pid: int) -> str:
    return _read(Path(f"/proc/{pid}/cmdline")).replace(b"\0", b" ").decode(errors="replace")


def _comm(pid: int) -> str:
    return _read(Path(f"/proc/{pid}/comm")).decode(errors="replace").strip()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
