"""Known latency: does the chain measure a delay that is known beforehand? And does the relay, which
replaces a network's delay where the kernel cannot simulate one, add the delay that it should?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from restbench.calibrate.bench import Bench
from restbench.calibrate.stub import STRATEGY, Behaviour
from restbench.drive.generator import CORRECT, Generator
from restbench.experiment.records import CalibrationCheck

#: A published p99 needs ten times as many completions (statistics.COMPLETIONS_NEEDED). Here the
#: truth is one value, and ten samples beyond the percentile show whether the chain adds to it.
ENOUGH_FOR_P99 = 1_000


@dataclass(frozen=True)
class Point:
    """A stub's delay, with users and seconds for more than ENOUGH_FOR_P99 responses."""

    delay_ms: float
    users: int
    keep_s: float

    @property
    def drop_s(self) -> float:
        """Seconds dropped at the begin: a connection's first answer is up to a whole delay late."""
        return 0.5 + self.delay_ms / 500


#: Few users, so that the delay is measured and not the contention for shared cores.
POINTS = (Point(5, 4, 6), Point(50, 10, 6.5), Point(500, 50, 12))

#: The point measured without and with a relay, and the relay's delay in each direction.
RELAYED, RELAY_MS = Point(5, 4, 4), 20


@dataclass(frozen=True)
class PointResult:
    """What was measured at one point; the percentile is None for fewer than ENOUGH_FOR_P99."""

    delay_ms: float
    completions: int
    median_ms: float
    p99_ms: float | None

    @property
    def passed(self) -> bool:
        """Median within 1 ms + 1 %, p99 within 2 ms + 1 % (method, "Calibration")."""
        if self.p99_ms is None:
            return False
        median_off, p99_off = self.median_ms - self.delay_ms, self.p99_ms - self.delay_ms
        share_ms = 0.01 * self.delay_ms
        return abs(median_off) <= 1 + share_ms and abs(p99_off) <= 2 + share_ms


def check(bench: Bench, load: Generator, points: Sequence[Point] = POINTS) -> CalibrationCheck:
    """Measure a stub at each delay and compare."""
    return judge([_measure(bench, load, point) for point in points])


def check_relay(bench: Bench, load: Generator) -> CalibrationCheck:
    """Measure the same stub directly and through a relay, and compare."""
    return judge_relay(_measure(bench, load, RELAYED), _measure(bench, load, RELAYED, RELAY_MS))


def judge_relay(direct: PointResult, relayed: PointResult) -> CalibrationCheck:
    """The check's record."""
    added_ms, wanted_ms = relayed.median_ms - direct.median_ms, 2 * RELAY_MS
    return CalibrationCheck(
        name="network delay",
        question="Does the relay add the delay of a network?",
        measured=f"the median is {added_ms:.2f} ms longer through a relay of 2 x {RELAY_MS} ms",
        limit="within 1 ms + 1 %",
        passed=abs(added_ms - wanted_ms) <= 1 + 0.01 * wanted_ms,
        values={"relay_added_ms": added_ms},
        follows="cells with delay_ms and the note `relayed` do not have the stated delay",
    )


def _measure(bench: Bench, load: Generator, point: Point, relay_ms: int = 0) -> PointResult:
    way = f", through a relay of {relay_ms} ms each way" * bool(relay_ms)
    bench.tell(f"a stub that answers after {point.delay_ms:g} ms{way}")
    with ExitStack() as stack:
        stub = stack.enter_context(bench.stub(load, Behaviour(delay_ms=point.delay_ms)))
        if relay_ms:
            stack.enter_context(bench.relayed(load, stub, relay_ms))
        times_s = (point.drop_s, point.keep_s)
        kept = bench.trial(load, STRATEGY, point.users, times_s, stub.pids()).measured
    elapsed_ms = kept["elapsed_us"][kept["outcome"] == CORRECT] / 1000
    if not elapsed_ms.size:
        return PointResult(point.delay_ms, 0, 0.0, None)
    enough = elapsed_ms.size >= ENOUGH_FOR_P99
    p99_ms = float(np.percentile(elapsed_ms, 99)) if enough else None
    return PointResult(point.delay_ms, elapsed_ms.size, float(np.median(elapsed_ms)), p99_ms)


def judge(found: Sequence[PointResult]) -> CalibrationCheck:
    """The check's record."""
    values: dict[str, float] = {}
    for each in found:
        name = f"{each.delay_ms:g}_ms"
        values |= {f"{name}.median_ms": each.median_ms, f"{name}.completions": each.completions}
        values |= {} if each.p99_ms is None else {f"{name}.p99_ms": each.p99_ms}
    off_ms = max(abs((each.p99_ms or each.median_ms) - each.delay_ms) for each in found)
    return CalibrationCheck(
        name="known latency",
        question="Does the chain measure the delay of a stub whose delay is known?",
        measured="; ".join(_in_words(each) for each in found),
        limit=f"median within 1 ms + 1 %, p99 within 2 ms + 1 % (of {ENOUGH_FOR_P99} or more "
        "responses)",
        passed=all(each.passed for each in found),
        values=values,
        follows=f"the measuring chain changes response times by up to {off_ms:.1f} ms: smaller "
        "differences between latencies have no meaning here",
    )


def _in_words(found: PointResult) -> str:
    unknown = f"p99 not known ({found.completions} responses)"
    p99 = unknown if found.p99_ms is None else f"p99 {found.p99_ms:.2f} ms"
    return f"{found.delay_ms:g} ms: median {found.median_ms:.2f} ms, {p99}"
