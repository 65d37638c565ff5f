"""Do 95 % intervals cover 95 %? Runs whose true mean is known, through Row.interval and the real
comparison; and the same checks with the mistake that the method forbids, which must fail them.

Runs are told by their throughput in each of 60 seconds, so that thousands of them can be judged.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from synthetic_rows import row

from restbench.analyse import comparison
from restbench.analyse.comparison import Series
from restbench.analyse.measures import Row
from restbench.experiment.statistics import Interval, t_interval
from restbench.judge.verdicts import verdict

STUDIES, BLOCKS, SECONDS = 1_500, 5, 60
TRUE = 100.0
METRIC = "throughput_per_s"
Numbers = npt.NDArray[np.float64]
Runs = Callable[[np.random.Generator], Numbers]


def lognormal(generator: np.random.Generator) -> Numbers:
    """Runs that differ by 10 %, skewed to the right; seconds of a run are independent."""
    spread = 0.10
    level = TRUE * generator.lognormal(-(spread**2) / 2, spread, (STUDIES, BLOCKS, 1))
    return level * generator.lognormal(-0.02, 0.2, (STUDIES, BLOCKS, SECONDS))


def autocorrelated(generator: np.random.Generator) -> Numbers:
    """AR(1) with 0.6: what a second tells of the next one."""
    series = np.empty((STUDIES, BLOCKS, SECONDS))
    series[..., 0] = generator.normal(size=(STUDIES, BLOCKS))
    for n in range(1, SECONDS):
        noise = np.sqrt(1 - 0.6**2) * generator.normal(size=(STUDIES, BLOCKS))
        series[..., n] = 0.6 * series[..., n - 1] + noise
    return TRUE + 10 * series


def with_collections(generator: np.random.Generator) -> Numbers:
    """In one second of ten a garbage collection takes 40 %; collections come in runs of three."""
    starts = generator.random((STUDIES, BLOCKS, SECONDS + 2)) < 1 / 30
    paused = starts[..., 2:] | starts[..., 1:-1] | starts[..., :-2]
    share = 1 - (1 - 1 / 30) ** 3
    return TRUE / (1 - 0.4 * share) * np.where(paused, 0.6, 1.0)


def study(blocks: Numbers) -> Row:
    """A row with a block for each run of a study."""
    return row("java serial low 10", blocks.mean(axis=1).tolist())


def over_runs(blocks: Numbers) -> Interval | None:
    return study(blocks).interval(METRIC)


def within_runs(blocks: Numbers) -> Interval:
    """What rule 1 forbids: every second of every run taken for a replicate."""
    return t_interval(blocks.ravel())


def coverage(runs: Runs, interval: Callable[[Numbers], Interval | None]) -> float:
    """The share of studies whose interval holds the true mean."""
    found = map(interval, runs(np.random.default_rng(2019)))
    return float(np.mean([each is not None and each.low <= TRUE <= each.high for each in found]))


def series_of_runs(blocks: Numbers) -> Series:
    return comparison.series(study(blocks), METRIC)


def series_of_seconds(blocks: Numbers) -> Series:
    """The same mistake in a comparison."""
    return Series(dict(enumerate(blocks.ravel().tolist())))


def different_in_a_a(series: Callable[[Numbers], Series]) -> float:
    """The share of differences between two halves of the same cell's runs."""
    first, second = (lognormal(np.random.default_rng(seed))[:400] for seed in (1, 2))
    verdicts = [
        verdict(comparison.paired(series(one), series(two)), "greater")
        for one, two in zip(first, second, strict=True)
    ]
    return sum(each in ("reproduced", "contradicted") for each in verdicts) / len(verdicts)


@pytest.mark.parametrize("runs", [lognormal, autocorrelated, with_collections])
def test_nominal_95_percent_intervals_over_runs_cover_93_to_97(runs: Runs) -> None:
    assert 0.93 <= coverage(runs, over_runs) <= 0.97


@pytest.mark.parametrize("runs", [lognormal, autocorrelated, with_collections])
def test_intervals_within_runs_would_fail_the_coverage_check(runs: Runs) -> None:
    assert coverage(runs, within_runs) < 0.90


def test_a_cell_compared_with_itself_is_seldom_called_different() -> None:
    assert different_in_a_a(series_of_runs) <= 0.05


def test_comparing_seconds_instead_of_runs_would_fail_the_a_a_check() -> None:
    assert different_in_a_a(series_of_seconds) > 0.05
