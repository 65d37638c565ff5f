"""Stall: what does the chain show of a service that stops for seconds?

Only what users wait for is seen by a closed load: each of N users meets the stall once, however
long it is, and sends nothing meanwhile. So its percentiles hide the stall, and are labelled
"closed loop"; only the slowest response tells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from restbench.probe import Probe, window_of
from restbench.records import CalibrationCheck
from restbench.statistics import percentile
from restbench.stub import Behaviour

USERS = 10
DELAY_MS = 20.0
WARMUP_S = 1.0
#: The stall's size in the slowest response, and the delay in the percentile, may be off by this.
TOLERANCE = 0.1
TOLERANCE_MS = 5.0


@dataclass(frozen=True)
class Stall:
    """A stub that stops for `stall_s` in the middle of a window."""

    stall_s: float = 2.0
    window_s: float = 8.0


@dataclass(frozen=True)
class Closed:
    """What a closed load showed of it."""

    p99_ms: float
    slowest_ms: float
    touched: int
    """Responses that took longer than half the stall."""


def closed(probe: Probe, tell: Callable[[str], None], stall: Stall | None = None) -> Closed:
    """Load a stub that stops once, with users that wait for their answers."""
    stall = stall or Stall()
    tell(f"a stub that stops for {stall.stall_s:g} s under a closed load")
    behaviour = Behaviour(
        delay_ms=DELAY_MS,
        stall_after_s=WARMUP_S + stall.window_s / 3,
        stall_s=stall.stall_s,
    )
    with probe.stub(behaviour) as stub:
        profile = window_of(stall.window_s, WARMUP_S)
        elapsed_ms = probe.measure(stub, USERS, profile).correct_elapsed_ms()
    return Closed(
        p99_ms=percentile(elapsed_ms, 99),
        slowest_ms=percentile(elapsed_ms, 100),
        touched=int((elapsed_ms > 500 * stall.stall_s).sum()),
    )


def judge_closed(found: Closed, stall: Stall | None = None) -> CalibrationCheck:
    """The check's record: a closed load is as blind as it is said to be, and no blinder."""
    stall_ms = 1000 * (stall or Stall()).stall_s
    saw_size = abs(found.slowest_ms - DELAY_MS - stall_ms) <= TOLERANCE * stall_ms
    hidden = abs(found.p99_ms - DELAY_MS) <= TOLERANCE_MS + TOLERANCE * DELAY_MS
    return CalibrationCheck(
        name="stall, closed load",
        question="What does a closed load show of a service that stops?",
        measured=(
            f"a stall of {stall_ms:.0f} ms: the slowest response took {found.slowest_ms:.0f} ms, "
            f"p99 {found.p99_ms:.0f} ms; {found.touched} responses of {USERS} users met it. "
            "So closed-loop percentiles hide stalls"
        ),
        limit=(
            f"slowest within {TOLERANCE:.0%} of the stall, at most one response a user; p99 as "
            f"without a stall ({DELAY_MS:.0f} ms)"
        ),
        passed=saw_size and hidden and 0 < found.touched <= USERS,
        values={
            "stall_ms": stall_ms,
            "slowest_ms": found.slowest_ms,
            "p99_ms": found.p99_ms,
            "touched": found.touched,
        },
    )
