"""Known latency: does the chain measure a delay that is known beforehand?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from restbench.calibrate.probe import Probe, cell_of, window_of
from restbench.calibrate.stub import Behaviour
from restbench.experiment.records import CalibrationCheck

#: A published p99 needs ten times as many completions (statistics.COMPLETIONS_NEEDED). Here the
#: truth is one value, and ten samples beyond the percentile tell whether the chain adds to it.
ENOUGH_FOR_P99 = 1_000
WARMUP_S = 1.5


@dataclass(frozen=True)
class Point:
    """A delay, and how many users ask for it for how long at most."""

    delay_ms: float
    users: int
    longest_s: float
    completions: int = ENOUGH_FOR_P99

    @property
    def median_limit_ms(self) -> float:
        """How far the median may be off (method, "Calibration")."""
        return 1 + 0.01 * self.delay_ms

    @property
    def p99_limit_ms(self) -> float:
        """How far the 99th percentile may be off."""
        return 2 + 0.01 * self.delay_ms


#: Few users: what is measured shall be the delay, not the cores that generator and stub share.
POINTS = (Point(5, 4, 12, completions=5_000), Point(50, 10, 12), Point(500, 50, 15))


@dataclass(frozen=True)
class Found:
    """What was measured at one point; the percentile is None for fewer than ENOUGH_FOR_P99."""

    point: Point
    completions: int
    median_ms: float
    p99_ms: float | None

    @property
    def passed(self) -> bool:
        """Whether both are within their limits; too few completions show nothing."""
        median_off = abs(self.median_ms - self.point.delay_ms)
        return (
            median_off <= self.point.median_limit_ms
            and self.p99_ms is not None
            and abs(self.p99_ms - self.point.delay_ms) <= self.point.p99_limit_ms
        )


def check(
    probe: Probe, tell: Callable[[str], None], points: Sequence[Point] = POINTS
) -> CalibrationCheck:
    """Measure a stub at each delay and compare."""
    found = []
    for point in points:
        tell(f"a stub that answers after {point.delay_ms:g} ms")
        found.append(_measure(probe, point))
    return judge(found)


def _measure(probe: Probe, point: Point) -> Found:
    with probe.stub(Behaviour(delay_ms=point.delay_ms)) as stub:
        # A connection's first answer comes up to a whole delay later.
        profile = window_of(point.longest_s, WARMUP_S + point.delay_ms / 500, point.completions)
        elapsed_ms = probe.measure(stub, cell_of(point.users), profile).correct_ms()
    enough = elapsed_ms.size >= ENOUGH_FOR_P99
    p99_ms = elapsed_ms.percentile(99) if enough else None
    median_ms = elapsed_ms.percentile(50) if elapsed_ms.size else 0.0
    return Found(point, elapsed_ms.size, median_ms, p99_ms)


def judge(found: Sequence[Found]) -> CalibrationCheck:
    """The check's record."""
    values: dict[str, float] = {}
    for each in found:
        name = f"{each.point.delay_ms:g}_ms"
        values |= {f"{name}.median_ms": each.median_ms, f"{name}.completions": each.completions}
        values |= {} if each.p99_ms is None else {f"{name}.p99_ms": each.p99_ms}
    return CalibrationCheck(
        name="known latency",
        question="Does the chain measure the delay of a stub whose delay is known?",
        measured="; ".join(_in_words(each) for each in found),
        limit=f"median within 1 ms + 1 %, p99 within 2 ms + 1 % (of {ENOUGH_FOR_P99} or more)",
        passed=all(each.passed for each in found),
        values=values,
    )


def _in_words(found: Found) -> str:
    p99 = (
        f"p99 not known ({found.completions} responses)"
        if found.p99_ms is None
        else f"p99 {found.p99_ms:.0f} ms"
    )
    return f"{found.point.delay_ms:g} ms: median {found.median_ms:.0f} ms, {p99}"
