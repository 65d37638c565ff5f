"""Measures what requests cost, by sending samples of them to a process of a pool."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from time import perf_counter_ns

from ..workloads.workload import Sample
from .clock import StageClock
from .costs import Costs, KindCosts
from .pool.pool import ProcessPool
from .pool.requests import Errand, ask

MOST_REPEATS = 7
REPEAT_NS = 60_000_000
"""A sample is sent again until so much time has gone by."""
MOST_WAITING = 0.1
"""Of the time, that the process waited for a core which others had: with more, costs look higher
than they are."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Timing:
    """The fastest run of a sample."""

    kind: str
    body_bytes: int
    operations: float
    text_ns: float
    compute_ns: float
    trip_ns: float


@dataclass(frozen=True)
class Calibration:
    """What was found, and whether others left it enough of a core to be kept."""

    costs: Costs
    is_steady: bool


def calibrate(pool: ProcessPool, samples: Sequence[Sample]) -> Calibration:
    """Each sample several times in one process. Raises what a sample does, and WorkerDiedError."""
    pool.await_ready()
    began_ns, waited_ns = perf_counter_ns(), pool.waited_ns()
    timings = [_timed(pool, sample) for sample in samples]
    if not timings:
        return Calibration(Costs({}, 0.0, 0.0), False)
    waiting = (pool.waited_ns() - waited_ns) / (perf_counter_ns() - began_ns)
    kinds = groupby(timings, key=lambda timing: timing.kind)
    trip_ns = min(timing.trip_ns for timing in timings)
    largest = max(timings, key=lambda timing: timing.body_bytes)
    _, trip_ns_per_byte = _line([(0, trip_ns), (largest.body_bytes, largest.trip_ns)])
    costs = Costs({kind: _costs(list(group)) for kind, group in kinds}, trip_ns, trip_ns_per_byte)
    return Calibration(costs, waiting <= MOST_WAITING)


def _timed(pool: ProcessPool, sample: Sample) -> Timing:
    workload, body = sample
    runs: list[tuple[int, StageClock]] = []
    with pool.one(StageClock()) as channel:
        began_ns = perf_counter_ns()
        while not runs or (len(runs) < MOST_REPEATS and perf_counter_ns() - began_ns < REPEAT_NS):
            clock, sent_ns = StageClock(), perf_counter_ns()
            ask(channel, Errand(workload), body, clock)
            runs.append((perf_counter_ns() - sent_ns, clock))
    stages = [clock.elapsed_ns for _, clock in runs]
    return Timing(
        kind=workload.kind,
        body_bytes=len(body),
        operations=workload.operations(workload.parse(body)),
        text_ns=min(each["parse"] + each["serialize"] for each in stages),
        compute_ns=min(each["compute"] for each in stages),
        trip_ns=min(total - sum(clock.elapsed_ns.values()) for total, clock in runs),
    )


def _costs(timings: Sequence[Timing]) -> KindCosts:
    """`timings` are from small to large."""
    fixed_ns, ns_per_byte = _line([(each.body_bytes, each.text_ns) for each in timings])
    largest = timings[-1]
    return KindCosts(fixed_ns, ns_per_byte, largest.compute_ns / largest.operations)


def _line(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Value at 0 and slope of the line through the first point and the last, none negative."""
    (x_first, y_first), (x_last, y_last) = points[0], points[-1]
    slope = max(0.0, (y_last - y_first) / (x_last - x_first)) if x_last > x_first else 0.0
    return max(0.0, y_first - slope * x_first), slope
