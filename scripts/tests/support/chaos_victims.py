"""Who can be killed while a benchmark runs."""

from __future__ import annotations

import os
import signal
import time

import psutil
from chaos_harness import Harness

from restbench.machine import guardian, watch
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
    name = f"{kind} {watch._name(victim)}"
    guardian.kill([victim])
    return name


def _started(harness: Harness, known_by: str) -> list[int]:
    parts, ours = known_by.split("|"), children(harness)
    return [
        each.pid
        for each in psutil.process_iter(["cmdline"])
        if each.pid in ours and any(part in " ".join(each.info["cmdline"] or ()) for part in parts)
    ]


def children(harness: Harness) -> list[int]:
    """Everything that carries the harness' mark."""
    return [pid for pid, mark in guardian.marks().items() if mark.startswith(f"{harness.pid}-")]


def guardians(harness: Harness) -> list[int]:
    """Those that wait for the harness to end."""
    return [
        each.pid
        for each in psutil.process_iter(["environ"])
        if (each.info["environ"] or {}).get(GUARDIAN_VARIABLE, "").startswith(f"{harness.pid}-")
    ]
