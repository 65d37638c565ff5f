"""Overhead: what do the collectors, the stage times and the harness's own looking cost?

The service's own stage clock runs on both sides: it cannot be switched off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from restbench.analyse import jtl
from restbench.calibrate.probe import MANY_ROWS, Probe, cell_of, window_of
from restbench.deploy.service import Service
from restbench.drive import load
from restbench.drive.measure import drained
from restbench.experiment.cell import Cell
from restbench.experiment.records import CalibrationCheck, Window
from restbench.experiment.statistics import Ratio, paired_ratio
from restbench.machine.placement import core_list
from restbench.store.writing import write_text

WARMUP_S = 1.5
WINDOW_S = 3.0
SPARE_S = 30.0
#: What the closed plan does for the stage times, as its file has it; it is off in the bare plan.
EXTRACTOR = 'testclass="RegexExtractor" testname="serverTiming'
ENABLED, DISABLED = 'enabled="true"', 'enabled="false"'

Pair = tuple[float, float]


class _StillBusyError(Exception):
    """What is measured next would be measured beside requests that nobody waits for."""


@dataclass(frozen=True)
class Subject:
    """What is looked at, and what looking may cost it: shares of its throughput."""

    name: str
    question: str
    cell: Cell
    pairs: int
    largest_cost: float
    largest_half_width: float


FAST = Subject(
    name="overhead",
    question="How much throughput do the collectors and the stage times cost?",
    cell=cell_of(users=10),
    pairs=8,
    largest_cost=0.01,
    largest_half_width=0.02,
)
#: 30 requests with a pool of 100 threads each. Threads that come and go are what looking on can
#: hold up most, as counting their states did, which took nine tenths of this cell's throughput and
#: more. Its own spread is wide.
MANY_THREADS = Subject(
    name="overhead with many threads",
    question="And how much where thousands of threads come and go?",
    cell=cell_of(users=30, strategy="thread-pool", complexity=MANY_ROWS),
    pairs=6,
    largest_cost=0.25,
    largest_half_width=0.25,
)


def measure(
    probe: Probe,
    tell: Callable[[str], None],
    service: Service,
    subject: Subject,
    window_s: float = WINDOW_S,
) -> list[Pair]:
    """Throughput per second of the same cell (observed as any cell, bare), alternating which is
    first; fewer pairs where the service did not get idle after one of its loads."""
    plan = bare_plan(probe.run.path / "bare-load.jmx")
    found: list[Pair] = []
    try:
        _bare(probe, service, subject.cell, window_s, plan)  # what is not compiled yet is no cost
        for number in range(1, subject.pairs + 1):
            tell(f"{subject.cell.id} with and without collectors, {number} of {subject.pairs}")
            if number % 2:
                observed = _observed(probe, service, subject.cell, window_s)
                bare = _bare(probe, service, subject.cell, window_s, plan)
            else:
                bare = _bare(probe, service, subject.cell, window_s, plan)
                observed = _observed(probe, service, subject.cell, window_s)
            found.append((observed, bare))
    except _StillBusyError:
        tell(f"{subject.cell.id}: the service goes on with requests nobody waits for")
    return found


def _observed(probe: Probe, service: Service, cell: Cell, window_s: float) -> float:
    # A real run always looks on while a cell is measured.
    profile = window_of(window_s, WARMUP_S)
    measured = probe.measure(service, cell, profile, watch=lambda _: None)
    _require_idle(service)
    return measured.numbers.throughput_per_s or 0.0


def _bare(probe: Probe, service: Service, cell: Cell, window_s: float, plan: Path) -> float:
    """The same load with nothing beside it: no sar, no pidstat, no metrics, no stage times, and
    nobody reads the JTL while it grows."""
    folder = probe.next_folder(cell)
    target = load.Target(
        cell=cell,
        address=service.address,
        payload=probe.run.payload(cell.complexity),
        duration_s=WARMUP_S + window_s + SPARE_S,
        plan=plan,
    )
    jmeter = load.start(target, folder, core_list(probe.cores.load))
    try:
        jmeter.await_started()
        time.sleep(WARMUP_S)
        start_ms = round(time.time() * 1000)
        time.sleep(window_s)
        end_ms = round(time.time() * 1000)
    finally:
        jmeter.stop()
    _require_idle(service)
    window = Window(start_ms=start_ms, end_ms=end_ms, ended="capped")
    return jtl.read(folder.samples, window).correct_ms.size / window.seconds


def _require_idle(service: Service) -> None:
    if not drained(service):
        raise _StillBusyError


def bare_plan(path: Path) -> Path:
    """The closed plan with the extraction of the stage times switched off, written to `path`."""
    before, found, after = load.PLAN.read_text(encoding="utf-8").partition(EXTRACTOR)
    if not found:
        raise ValueError(f"{load.PLAN} has no {EXTRACTOR}")
    write_text(path, before + found + after.replace(ENABLED, DISABLED, 1))
    return path


def judge(pairs: Sequence[Pair], subject: Subject) -> CalibrationCheck:
    """The check's record: the cost is what is missing of the bare throughput."""
    usable = [pair for pair in pairs if min(pair) > 0]
    if len(usable) < subject.pairs:
        return _failed(len(usable), subject)
    ratio = paired_ratio([each[0] for each in pairs], [each[1] for each in pairs])
    cost, low, high = 1 - ratio.estimate, 1 - ratio.high, 1 - ratio.low
    known = (high - low) / 2 < subject.largest_half_width
    return CalibrationCheck(
        name=subject.name,
        question=subject.question,
        measured=(
            f"{cost:.1%} [{low:.1%}, {high:.1%}] of {len(pairs)} pairs: {_verdict(ratio, known)}"
        ),
        limit=(
            f"at most {subject.largest_cost:.0%}, interval within ±{subject.largest_half_width:.0%}"
        ),
        passed=cost <= subject.largest_cost and known,
        values={"cost": cost, "low": low, "high": high, "pairs": len(pairs)},
    )


def _failed(usable: int, subject: Subject) -> CalibrationCheck:
    """Where looking on, or the load alone, was more than the service could bear."""
    return CalibrationCheck(
        name=subject.name,
        question=subject.question,
        measured=(
            f"{usable} of {subject.pairs} pairs: the service stayed busy after a load, or answered "
            "nothing in a window"
        ),
        limit=f"{subject.pairs} pairs",
        passed=False,
        values={"pairs": usable},
    )


def _verdict(ratio: Ratio, known: bool) -> str:
    if not known:
        return "too uncertain to say on this machine"
    if ratio.high < 1:
        return "a real cost"
    return "none that can be seen"
