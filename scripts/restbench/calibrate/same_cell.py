"""A/A: one cell measured as the two arms of a trial group. How often are they called different?

Each comparison has batches of its own, which stand for a run's blocks; the interval is over them. A
sound chain still calls the cell different in 5 % of the comparisons. So the check fails only with a
number of wrong verdicts that chance gives in less than one calibration of a hundred.
"""

from __future__ import annotations

from collections.abc import Sequence

import scipy  # its parts are loaded when they are first used

from restbench.analyse import estimates
from restbench.calibrate.bench import CELL, USERS, Bench
from restbench.drive.generator import Generator
from restbench.experiment.records import CalibrationCheck
from restbench.experiment.statistics import CONFIDENCE, geometric_interval
from restbench.schedule.pace import Pace, PlannedTrial
from restbench.schedule.reduction import reduced
from restbench.store.trials import AGAIN, Trial

#: In the fastest cells a user gets ten answers or more in the shortest trial.
PACE = Pace(response_s=0.001)
COMPARISONS = 40
BATCHES = 5
#: A number of wrong verdicts with at most this probability is not put down to chance.
LEAST_PROBABILITY = 0.01


def measure(
    bench: Bench, load: Generator, pids: Sequence[int], batches: int = COMPARISONS * BATCHES
) -> list[Trial]:
    """Trials of one cell on a warm service, in both arms; a batch stands for a block."""
    found = []
    turns = bench.turns("the same cell in both arms", ("", AGAIN), batches, every=BATCHES)
    for batch, arms in enumerate(turns, start=1):
        for arm in arms:
            times_s = (PACE.drop_s, PACE.keep_s)
            sent = bench.trial(load, CELL.strategy, USERS, times_s, pids)
            planned = PlannedTrial(1, CELL, arm)
            found.append(reduced(batch, planned, sent, pids, (0.0, 0.0)))
    return found


def judge(trials: Sequence[Trial]) -> CalibrationCheck:
    """The check's record: compares the arms as a run's own A/A arm, and counts wrong verdicts."""
    rates = {(each.block, each.cell, each.arm): each.completions / each.seconds for each in trials}
    ratios = estimates.again_ratios(rates)[CELL.id]
    compared = [
        geometric_interval(ratios[first : first + BATCHES])
        for first in range(0, len(ratios) - BATCHES + 1, BATCHES)
    ]
    different = sum(not each.low <= 1 <= each.high for each in compared)
    allowed = most_by_chance(len(compared))
    whole = geometric_interval(ratios)
    return CalibrationCheck(
        name="A/A",
        question="Does a cell that is measured in both arms appear to differ from itself?",
        measured=(
            f"in {different} of {len(compared)} comparisons of {BATCHES} batches; all together: "
            f"{whole.estimate:.3f} [{whole.low:.3f}, {whole.high:.3f}]"
        ),
        limit=f"at most {allowed}, which chance does not exceed in 99 of 100 calibrations",
        passed=different <= allowed,
        values={
            "different": different,
            "comparisons": len(compared),
            "ratio": whole.estimate,
            "low": whole.low,
            "high": whole.high,
        },
        follows="intervals are too narrow here, and a run's own A/A arm shows by how much; do "
        "not trust a ratio whose interval barely excludes the margin",
    )


def most_by_chance(comparisons: int) -> int:
    """The most wrong verdicts that chance gives: more have at most LEAST_PROBABILITY (binomial)."""
    numbers = range(comparisons + 1)
    beyond = scipy.special.bdtrc(numbers, comparisons, 1 - CONFIDENCE)
    return next(number for number in numbers if beyond[number] <= LEAST_PROBABILITY)
