"""Measures what requests cost, by sending samples of them to a process of a pool.

In CPU time, which others that want the cores at the same time change little; and a trip to another
process is work for both sides, while waking it up takes no time of anybody's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from socket import socket
from statistics import median
from time import perf_counter_ns, thread_time_ns
from typing import NamedTuple

from ..workloads.workload import Sample
from .clock import StageClock
from .costs import Costs, KindCosts
from .pool.pool import ProcessPool
from .pool.requests import Errand, ask

METHOD = "least median of bursts"
"""What was measured by another one, and kept, is measured anew."""
BURSTS = 3
"""A sample is sent in as many bursts, with those of the others between them: what disturbs one for
some tens of milliseconds is over at the next. Once only where it outlasts that by itself."""
LEAST_REPEATS, MOST_REPEATS = 3, 5
REPEAT_NS = 15_000_000
"""In a burst a sample is sent again until it has been worked on for so long. However long it takes,
what the first time cost with cold memory is never taken for what a trip costs."""
MOST_WAITING = 0.1
"""Of the time, that the process waited for a core which others had: with more, costs look somewhat
higher than they are."""


class Run(NamedTuple):
    """A sample once: each stage, and what both sides have done around them."""

    stages_ns: dict[str, int]
    around_ns: int


@dataclass(frozen=True)
class Timing:
    """Of a sample: the stages, and what both sides have done around them."""

    kind: str
    body_bytes: int
    operations: float
    text_ns: float
    compute_ns: float
    trip_ns: float

    @property
    def work_ns(self) -> float:
        """Of a request, without its trip."""
        return self.text_ns + self.compute_ns

    @staticmethod
    def least(bursts: Sequence["Timing"]) -> "Timing":
        """Of one sample: what a burst took that nothing disturbed, each time by itself."""
        return replace(
            bursts[0],
            text_ns=_least(each.text_ns for each in bursts),
            compute_ns=_least(each.compute_ns for each in bursts),
            trip_ns=_least(each.trip_ns for each in bursts),
        )


@dataclass(frozen=True)
class Calibration:
    """What was found, and whether others left it enough of a core to be kept."""

    costs: Costs
    is_steady: bool


def calibrate(pool: ProcessPool, samples: Sequence[Sample]) -> Calibration:
    """Each sample several times, one after the other. Raises what one does, and WorkerDiedError."""
    pool.await_ready()
    began_ns, before = perf_counter_ns(), pool.core_time()
    timings = _timings(pool, samples)
    if not timings:
        return Calibration(Costs({}, 0.0, 0.0), False)
    waited_ns = pool.core_time().waited_ns - before.waited_ns
    # After long work caches are cold, and a trip takes longer.
    trip_ns = _least(timing.trip_ns for timing in timings)
    largest = max(timings, key=lambda timing: timing.body_bytes)
    _, trip_ns_per_byte = _line([(0, trip_ns), (largest.body_bytes, largest.trip_ns)])
    kinds = groupby(timings, key=lambda timing: timing.kind)
    costs = Costs({kind: _costs(list(group)) for kind, group in kinds}, trip_ns, trip_ns_per_byte)
    return Calibration(costs, waited_ns <= MOST_WAITING * (perf_counter_ns() - began_ns))


def _timings(pool: ProcessPool, samples: Sequence[Sample]) -> list[Timing]:
    bursts = [[_burst(pool, sample)] for sample in samples]
    for _ in range(1, BURSTS):
        for of_sample, sample in zip(bursts, samples, strict=True):
            if of_sample[0].work_ns < REPEAT_NS:
                of_sample.append(_burst(pool, sample))
    return [Timing.least(of_sample) for of_sample in bursts]


def _burst(pool: ProcessPool, sample: Sample) -> Timing:
    with pool.one(StageClock()) as channel:
        runs = [_run(pool, channel, sample)]  # with cold caches, and whatever happens only once
        while is_to_be_repeated([sum(run.stages_ns.values()) for run in runs]):
            runs.append(_run(pool, channel, sample))
    return timing_of(sample, runs[1:])


def timing_of(sample: Sample, runs: Sequence[Run]) -> Timing:
    """The median of each time.

    A clock of CPU time may say too little, even nothing, where a hypervisor takes cores away and
    the kernel takes that off; a cold cache makes it say too much. What befalls less than half of
    the runs does not move the median, on either side.
    """
    workload, body = sample
    stages = [run.stages_ns for run in runs]
    return Timing(
        kind=workload.kind,
        body_bytes=len(body),
        operations=workload.operations(workload.parse(body)),
        text_ns=median(each["parse"] + each["serialize"] for each in stages),
        compute_ns=median(each["compute"] for each in stages),
        trip_ns=max(0.0, median(run.around_ns for run in runs)),
    )


def _least(times_ns: Iterable[float]) -> float:
    """Of those that took time."""
    return min((each for each in times_ns if each > 0), default=0.0)


def is_to_be_repeated(times_ns: Sequence[int]) -> bool:
    """Whether a sample is to be sent again after it has taken these times."""
    repeats = len(times_ns) - 1
    return repeats < LEAST_REPEATS or (repeats < MOST_REPEATS and sum(times_ns) < REPEAT_NS)


def _run(pool: ProcessPool, channel: socket, sample: Sample) -> Run:
    clock, used_ns, own_ns = StageClock(), pool.core_time().used_ns, thread_time_ns()
    ask(channel, Errand(sample.workload, counts_cpu_time=True), sample.body, clock)
    own_ns = thread_time_ns() - own_ns
    used_ns = pool.core_time().used_ns - used_ns
    return Run(clock.elapsed_ns, own_ns + used_ns - sum(clock.elapsed_ns.values()))


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
