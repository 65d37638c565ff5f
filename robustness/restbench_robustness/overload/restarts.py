"""kill -9 of the whole service: all of it is gone, and a new one finds nothing in its way."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import psutil

from restbench.cell import ServiceName
from restbench_robustness.overload import loads, tree
from restbench_robustness.overload.answers import Verdict
from restbench_robustness.overload.kills import Killing, load_plan
from restbench_robustness.overload.outcome import NEVER
from restbench_robustness.overload.promises import Findings
from restbench_robustness.overload.under_test import UnderTest, started
from restbench_robustness.overload.waiting import seconds_until

GONE_WITHIN_S = 2.0
LONG_S = 30.0
LOAD_S = 1.0
#: Where OpenHFT's library keeps its locks unless told otherwise.
LOCKS = Path("/tmp")  # noqa: S108 - looked at, not used


def restarted(name: ServiceName, strategy: str, killing: Killing, folder: Path) -> Findings:
    """Kill the process that was started, `kills` times, and start the service anew each time."""
    findings = Findings(f"{name} {strategy}: kill -9 of the service itself")
    locks, pins = _locks(), set[str]()
    for kill in range(killing.kills):
        with started(name, folder / f"life-{kill}") as under:
            served = under.normal(strategy)
            findings.judge(f"life {kill + 1} serves", "right", served, served is Verdict.RIGHT)
            pins |= _pins(under)
            _kill(findings, under, strategy, killing)
    if name == "java":
        one = len(pins) == 1 and all(re.fullmatch(r"\d+", mask) for mask in pins)
        findings.judge("each pinned to the same one core", "one core", str(sorted(pins)), one)
    new = sorted(_locks() - locks)
    findings.judge("no lock of a core left", "none", str(new or "none"), not new)
    return findings


def _kill(findings: Findings, under: UnderTest, strategy: str, killing: Killing) -> None:
    everyone = [psutil.Process(pid) for pid in under.service.pids()]
    with loads.running(load_plan(under, strategy, killing), under.folder) as load:
        time.sleep(LOAD_S)
        os.kill(under.root_pid, signal.SIGKILL)
        gone_s = seconds_until(lambda: not any(map(tree.lives, everyone)), LONG_S)
        outcome = load.finish()
    findings.within("all its processes are gone", gone_s, GONE_WITHIN_S)
    never = outcome.number_of(*NEVER, Verdict.FAULT)
    findings.judge("no wrong answer before that", "0", outcome.sentence(), never == 0)


def _pins(under: UnderTest) -> set[str]:
    """The kernel's masks of the threads that call themselves pinned."""
    statuses = (tree.read(path) for path in Path(f"/proc/{under.root_pid}/task").glob("*/status"))
    return {
        status.partition("Cpus_allowed_list:\t")[2].partition("\n")[0]
        for status in statuses
        if status.startswith("Name:\tpinned")
    }


def _locks() -> set[str]:
    return {path.name for path in LOCKS.glob("cpu-*.lock")}
