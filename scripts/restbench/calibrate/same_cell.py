"""A/A: one cell measured as if it were two techniques. How often is it called different from
itself?

Where the measurements of one cell spread by 3 % or less, the margin of 5 % (method, rule 7) leaves
a share near 0. Above that the t test decides, which is wrong in 5 % on average over all machines:
for a spread of 5 %, 10 % and 20 % the share of a chain that is right exceeded the limit in 32, 43
and 36 of 100 simulated calibrations, and was 13 % at most. So a share above the limit of a cell
that spreads more speaks against the machine first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean, median, stdev

from restbench.analyse import comparison
from restbench.analyse.measures import Measurement, Row
from restbench.calibrate.probe import SHAPE, Probe, cell_of, window_of
from restbench.deploy.service import Service
from restbench.experiment.records import CalibrationCheck
from restbench.experiment.statistics import Ratio
from restbench.judge import verdicts

METRIC = "throughput_per_s"
USERS = 10
#: Pairs of measurements, one after the other as in a block; a trial draws BLOCKS of them.
PAIRS = 8
BLOCKS = 5
TRIALS = 1_000
SEED = 2019
WARMUP_S = 1.0
WINDOW_S = 2.5
LIMIT = 0.05
#: A larger spread leaves it to chance whether a chain that is right stays within the limit.
QUIET_SPREAD = 0.03
#: Of the t test alone, which does not know of the margin: about this share is wrong by chance.
SIGNIFICANT = 0.05
#: A fair coin gives the labels.
HEADS = 0.5

Pair = tuple[Measurement, Measurement]


def measure(
    probe: Probe,
    tell: Callable[[str], None],
    service: Service,
    pairs: int = PAIRS,
    window_s: float = WINDOW_S,
) -> list[Pair]:
    """Measure the same cell again and again on one warm service."""
    profile = window_of(window_s, WARMUP_S)
    measured = []
    for number in range(1, pairs + 1):
        tell(f"the same cell twice, {number} of {pairs}")
        first, second = (probe.measure(service, cell_of(USERS), profile).numbers for _ in range(2))
        measured.append((first, second))
    return measured


def judge(pairs: Sequence[Pair], trials: int = TRIALS, blocks: int = BLOCKS) -> CalibrationCheck:
    """Give the measurements to two techniques at random, compare as a report does, and count."""
    draw = random.Random(SEED)  # noqa: S311 - an order, not a secret
    compared = [_compare(pairs, blocks, draw) for _ in range(trials)]
    share = sum(_is_different(each) for each in compared) / trials
    by_test = sum(each.p_value <= SIGNIFICANT for each in compared) / trials
    width = median(each.high / each.estimate for each in compared) - 1
    values = [getattr(each, METRIC) for pair in pairs for each in pair]
    spread = stdev(values) / fmean(values)
    return CalibrationCheck(
        name="A/A",
        question="Is a cell that is measured as if it were two techniques called different?",
        measured=(
            f"{share:.1%} of {trials} comparisons of {blocks} blocks, whose intervals are "
            f"±{width:.0%} ({by_test:.1%} without the margin); {len(values)} measurements of "
            f"one cell, standard deviation {spread:.1%} of their mean{_doubt(share, spread)}"
        ),
        limit=f"at most {LIMIT:.0%}",
        passed=share <= LIMIT,
        values={
            "different_share": share,
            "different_share_without_margin": by_test,
            "half_width": width,
            "measurements": len(values),
            "spread": spread,
            "mean_per_s": fmean(values),
        },
    )


def _doubt(share: float, spread: float) -> str:
    if share <= LIMIT or spread <= QUIET_SPREAD:
        return ""
    return ": with such a spread a chain that is right fails in about 4 of 10 calibrations"


def _compare(pairs: Sequence[Pair], blocks: int, draw: random.Random) -> Ratio:
    labelled = [
        pair if draw.random() < HEADS else (pair[1], pair[0]) for pair in draw.sample(pairs, blocks)
    ]
    ones, twos = (_row([pair[side] for pair in labelled]) for side in (0, 1))
    first, second = (comparison.series(row, METRIC) for row in (ones, twos))
    found = comparison.paired(first, second).ratio
    assert found is not None  # noqa: S101 - of several blocks
    return found


def _is_different(found: Ratio) -> bool:
    """Whether either of the two would be called the greater one."""
    known = comparison.Comparison(estimate=found.estimate, ratio=found)
    return min(verdicts.p_holds(known, expect) for expect in verdicts.DIFFERENCES) <= SIGNIFICANT


def _row(measurements: Sequence[Measurement]) -> Row:
    blocks = [replace(each, block=block) for block, each in enumerate(measurements, start=1)]
    return Row(cell_of(USERS), SHAPE, (), tuple(blocks))
