"""Stall: what does the chain show of a service that stops for seconds?

A closed load sees only what its users wait for: each of N users meets the stall once, however long
it is, and sends nothing meanwhile. So its percentiles hide the stall, and are labelled "closed
loop"; only the slowest response shows it.

An open load keeps sending. A request due t seconds into a stall of S seconds waits S - t. At a
constant rate over a window of T, the share (T - S)/T of all requests waits only the delay D, and
the others wait D to D + S, evenly spread: the percentile q above that share is D + S - (1 - q) T.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np

from restbench.calibrate.bench import USERS, Bench
from restbench.calibrate.stub import STRATEGY, Behaviour
from restbench.drive.generator import CORRECT, Generator
from restbench.experiment import open_load
from restbench.experiment.open_load import Phases
from restbench.experiment.records import CalibrationCheck
from restbench.schedule.reduction import arrivals_of
from restbench.store.writing import write_text

#: The open load. Its rate is so low that waiting requests are answered at once when the stall is
#: over, and its users are enough to send every request that falls into the stall.
RATE_PER_S = 50.0
OPEN_USERS = 120
SLOWEST = 100.0
PERCENTS = (90.0, 99.0, SLOWEST)
DELAY_MS = 20.0
WARMUP_S = 1.0
#: Every result may be off by this share of the stall.
TOLERANCE = 0.1


@dataclass(frozen=True)
class Stall:
    """A stub that stops for `stall_s` in the middle of a window."""

    stall_s: float = 2.0
    window_s: float = 8.0

    @property
    def behaviour(self) -> Behaviour:
        """The behaviour of a stub with this stall."""
        after_s = WARMUP_S + self.window_s / 3
        return Behaviour(delay_ms=DELAY_MS, stall_after_s=after_s, stall_s=self.stall_s)

    def expected_ms(self, percent: float) -> float:
        """The percentile that an open load must show; DELAY_MS where the stall has no effect."""
        seconds = self.stall_s - (1 - percent / 100) * self.window_s
        return DELAY_MS + 1000 * max(0.0, seconds)


STALL = Stall()


def closed(bench: Bench, load: Generator, stall: Stall = STALL) -> dict[str, float]:
    """Load a stub that stops once, with users that wait for their answers; returns `p99_ms`,
    `slowest_ms`, and in `touched` the responses that took longer than half the stall."""
    bench.tell(f"a stub that stops for {stall.stall_s:g} s under a closed load")
    with bench.stub(load, stall.behaviour) as stub:
        times_s = (WARMUP_S, stall.window_s)
        kept = bench.trial(load, STRATEGY, USERS, times_s, stub.pids()).measured
    elapsed_ms = kept["elapsed_us"] / 1000
    return {
        "p99_ms": float(np.percentile(elapsed_ms, 99)),
        "slowest_ms": float(elapsed_ms.max()),
        "touched": int((elapsed_ms > 500 * stall.stall_s).sum()),
    }


def judge_closed(found: Mapping[str, float]) -> CalibrationCheck:
    """The check's record: a closed load shows the stall in its slowest response, not in p99."""
    stall_ms = 1000 * STALL.stall_s
    slowest_ms, p99_ms, touched = found["slowest_ms"], found["p99_ms"], found["touched"]
    saw_size = abs(slowest_ms - DELAY_MS - stall_ms) <= TOLERANCE * stall_ms
    hidden = abs(p99_ms - DELAY_MS) <= TOLERANCE * stall_ms
    return CalibrationCheck(
        name="stall, closed load",
        question="What does a closed load show of a service that stops?",
        measured=(
            f"a stall of {stall_ms:.0f} ms: the slowest response took {slowest_ms:.0f} ms, "
            f"p99 {p99_ms:.0f} ms; {touched:g} responses of {USERS} users were delayed "
            "by it, so closed-loop percentiles hide stalls"
        ),
        limit=(
            f"slowest within {TOLERANCE * stall_ms:.0f} ms of the stall, at most one response "
            f"per user; p99 within the same tolerance of the delay ({DELAY_MS:.0f} ms)"
        ),
        passed=saw_size and hidden and 0 < touched <= USERS,
        values={"stall_ms": stall_ms, **found},
        follows="not even the slowest response of a closed load shows that a service stopped",
    )


def opened(bench: Bench, load: Generator, stall: Stall = STALL) -> dict[float, float]:
    """The percentiles (PERCENTS, milliseconds) that an open load shows of a stub that stops once;
    a request without a correct answer counts as infinitely slow."""
    bench.tell(f"a stub that stops for {stall.stall_s:g} s under an open load")
    phases = Phases(warmup_s=WARMUP_S, window_s=stall.window_s, tail_s=0.5)
    planned = open_load.schedule("constant", RATE_PER_S, phases, (0,))
    file = bench.folder / "arrivals.txt"
    write_text(file, open_load.as_text(planned))
    with bench.stub(load, stall.behaviour) as stub:
        times_s = (WARMUP_S, stall.window_s + phases.tail_s)
        sent = bench.trial(load, STRATEGY, OPEN_USERS, times_s, stub.pids(), arrivals=file)
    asked = arrivals_of(sent.records, phases)
    elapsed_ms = np.where(asked["outcome"] == CORRECT, asked["elapsed_us"] / 1000, np.inf)
    shown = np.percentile(elapsed_ms, PERCENTS, method="inverted_cdf")
    return dict(zip(PERCENTS, shown.tolist(), strict=True))


def judge_opened(found: Mapping[float, float]) -> CalibrationCheck:
    """The check's record: an open load shows the stall at its analytic size."""
    expected = {percent: STALL.expected_ms(percent) for percent in found}
    limit_ms = TOLERANCE * 1000 * STALL.stall_s
    return CalibrationCheck(
        name="stall, open load",
        question="Does an open load show the full length of a stall?",
        measured=f"a stall of {1000 * STALL.stall_s:.0f} ms: "
        + ", ".join(
            f"{_name(percent)} {value:.0f} ms (expected {expected[percent]:.0f})"
            for percent, value in found.items()
        ),
        limit=f"each within {limit_ms:.0f} ms of the value expected from the schedule",
        passed=all(abs(found[percent] - expected[percent]) <= limit_ms for percent in found),
        values={
            f"{_name(percent)}_ms": value for percent, value in found.items() if isfinite(value)
        },
        follows="latencies of open loads do not follow the schedule here: do not trust them",
    )


def _name(percent: float) -> str:
    return "slowest" if percent == SLOWEST else f"p{percent:g}"
