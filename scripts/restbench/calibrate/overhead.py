"""Overhead: what do the collectors of long windows (sar, pidstat, the service's metrics) cost?

Trials run without collectors. Throughput with and without them, in pairs, is the direct answer, but
uncertain on a shared machine; the CPU time that they take is known to a tenth of a percent.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from restbench.calibrate.bench import CELL, USERS, Bench, load_of
from restbench.deploy.service import Service
from restbench.drive import monitor
from restbench.drive.generator import Generator
from restbench.experiment.records import CalibrationCheck
from restbench.experiment.statistics import paired_ratio
from restbench.machine import process
from restbench.machine.placement import allowed_cores
from restbench.store.folders import CellFolder

#: A sample of each collector is taken once a second.
TIMES_S = (0.2, 1.0)
PAIRS = 30
LARGEST_COST = 0.01


@dataclass(frozen=True)
class Pair:
    """Throughput per second with and without collectors, whose share of the machine is known."""

    watched_per_s: float
    bare_per_s: float
    cpu_share: float


def measure(bench: Bench, load: Generator, service: Service, pairs: int = PAIRS) -> list[Pair]:
    """One trial with collectors and one without, in random order, again and again."""
    found = []
    for turn in bench.turns("with and without collectors", (True, False), pairs, every=10):
        both = {watched: _trial(bench, load, service, watched=watched) for watched in turn}
        found.append(Pair(both[True][0], both[False][0], both[True][1]))
    return found


def _trial(
    bench: Bench, load: Generator, service: Service, *, watched: bool
) -> tuple[float, float]:
    """Throughput per second, and the collectors' share of the machine."""
    folder = CellFolder(bench.folder / "watched")
    folder.path.mkdir(exist_ok=True)
    with ExitStack() as stack:
        running: monitor.Running = {}
        if watched:
            running = stack.enter_context(monitor.collectors(service, load.pid, folder))
        before_s, begun_s = _cpu_s(running), time.monotonic()
        sent = load.trial(CELL.strategy, USERS, *TIMES_S, service.pids())
        share = (_cpu_s(running) - before_s) / (time.monotonic() - begun_s) / len(allowed_cores())
    return load_of(sent).per_s, share


def _cpu_s(running: monitor.Running) -> float:
    """CPU time of the collectors, seconds, with what they have started by now, and of this process:
    one of its threads samples the service's metrics, and it does nothing else meanwhile."""
    pids = [pid for each in running.values() for pid in process.tree(each.pid)]
    return process.cpu_ms(pids) / 1000 + time.process_time()


def judge(pairs: Sequence[Pair]) -> CalibrationCheck:
    """The check's record: passes with little CPU time of collectors, and no larger loss shown."""
    watched, bare = [each.watched_per_s for each in pairs], [each.bare_per_s for each in pairs]
    ratio = paired_ratio(watched, bare)
    cost, low, high = 1 - ratio.estimate, 1 - ratio.high, 1 - ratio.low
    cpu_share = sum(each.cpu_share for each in pairs) / len(pairs)
    return CalibrationCheck(
        name="overhead",
        question="How much do the collectors of long windows cost?",
        measured=(
            f"{cpu_share:.2%} of the machine's CPU time; {cost:.1%} [{low:.1%}, {high:.1%}] of the "
            f"throughput, {len(pairs)} pairs"
        ),
        limit=f"at most {LARGEST_COST:.0%} of the CPU time, and no larger loss of throughput is "
        "shown",
        passed=max(cpu_share, low) <= LARGEST_COST,
        values={"cpu_share": cpu_share, "cost": cost, "low": low, "high": high},
        follows="the throughput of long windows is too low by this amount; trials run without "
        "collectors",
    )
