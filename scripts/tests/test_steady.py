"""What the judgement of warm-up finds, and how often it cries wolf: simulated, seeded, through the
real functions. The numbers of `steady`'s table come from `flagged`."""

from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest

from restbench.analyse import audit, steady
from restbench.analyse.flags import FLAGS

BINS, LOADS = 60, 400
START_MS = 1_795_225_867_000
#: A third of the load is the planned warm-up, as in the shortest profiles.
WINDOW_MS = START_MS + 1_000 * BINS // 3
PLACE = (np.arange(BINS) + 0.5) / BINS


def ends_of(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Completions, so many in each second."""
    return START_MS + 1_000 * np.repeat(np.arange(counts.size), counts) + 500


def judged(counts: npt.NDArray[np.int64]) -> steady.Steadiness:
    end_ms = START_MS + 1_000 * counts.size
    return steady.judge(steady.course(ends_of(counts), START_MS, end_ms), WINDOW_MS)


def flagged(
    speed: npt.NDArray[np.float64], a_bin: int, correlation: float = 0.0
) -> dict[str, float]:
    """The share of loads with each flag; the noise is Poisson's, or as large and autocorrelated."""
    generator = np.random.default_rng(2019)
    found: Counter[str] = Counter()
    for _ in range(LOADS):
        mean = a_bin * speed
        if correlation:
            counts = np.rint(mean + np.sqrt(mean) * _correlated(generator, correlation))
        else:
            counts = generator.poisson(mean)
        found.update(judged(np.maximum(counts, 0).astype(np.int64)).flags)
    return {flag: found[flag] / LOADS for flag in ("not-steady", "warm-up-late", "drift")}


def _correlated(generator: np.random.Generator, correlation: float) -> npt.NDArray[np.float64]:
    noise = generator.normal(size=BINS)
    series = np.empty(BINS)
    series[0] = noise[0]
    for n in range(1, BINS):
        series[n] = correlation * series[n - 1] + np.sqrt(1 - correlation**2) * noise[n]
    return series


FLAT = np.ones(BINS)


@pytest.mark.parametrize("a_bin", [20, 500])
def test_a_load_without_warm_up_is_seldom_flagged(a_bin: int) -> None:
    found = flagged(FLAT, a_bin)
    assert found["not-steady"] <= 0.01
    assert found["warm-up-late"] <= 0.03
    assert found["drift"] <= 0.03
    together = flagged(FLAT, a_bin, correlation=0.6)
    assert together["not-steady"] + together["warm-up-late"] <= 0.10
    assert together["drift"] <= 0.08


def test_a_slow_start_that_reaches_into_the_window_is_found() -> None:
    found = flagged(np.where(PLACE < 0.42, 0.8, 1.0), 500)
    assert found["not-steady"] + found["warm-up-late"] >= 0.95


def test_a_change_of_level_behind_the_middle_is_found_in_the_window_where_mser_is_blind() -> None:
    found = flagged(np.where(PLACE < 0.6, 0.8, 1.0), 500)
    assert found["not-steady"] + found["warm-up-late"] <= 0.05
    assert found["drift"] >= 0.85


def test_a_load_that_grows_faster_to_its_end_is_found() -> None:
    found = flagged(0.5 + 0.5 * PLACE, 500)
    assert found["drift"] >= 0.95


def test_too_few_bins_or_completions_are_not_judged() -> None:
    few_bins = np.full(29, 500)
    few_completions = np.full(BINS, 1)
    for counts in (few_bins, few_completions):
        course = steady.Course(counts, 1_000, START_MS)
        found = steady.judge(course, WINDOW_MS)
        assert (found.steady, found.cut_ms, found.drift) == (None, None, None)
        assert found.flags == ("steadiness-unknown",)


@pytest.mark.parametrize(
    ("load_s", "completions", "bin_ms", "bins"),
    [
        (130, 5_000, 1_000, 130),  # long: one second
        (130, 100, 1_000, 130),  # never above one second
        (9, 9_000, 225, 40),  # short: a fortieth
        (9, 90, 500, 18),  # 5 completions a bin; too few bins to judge
        (0, 0, 1, 0),
    ],
)
def test_bins_are_a_second_where_the_load_is_long_enough(
    load_s: int, completions: int, bin_ms: int, bins: int
) -> None:
    end_ms = START_MS + 1_000 * load_s
    ends = np.linspace(START_MS, end_ms - 1, completions).astype(np.int64)
    found = steady.course(ends, START_MS, end_ms)
    if completions:
        assert (found.bin_ms, found.counts.size) == (bin_ms, bins)
        assert found.end_ms == end_ms
        assert found.counts.sum() == (ends >= found.first_ms).sum()


def test_only_whole_bins_of_the_window_are_compared() -> None:
    course = steady.Course(np.arange(10), 1_000, START_MS)
    assert course.within(START_MS).tolist() == list(range(10))
    assert course.within(START_MS + 2_001).tolist() == list(range(3, 10))


def test_a_window_without_any_spread_can_drift() -> None:
    found = judged(np.where(np.arange(BINS) < 2 * BINS // 3, 90, 100))
    assert found.drifts
    assert found.drift == pytest.approx(1 / 9)


def test_every_flag_of_it_is_explained() -> None:
    for flag in ("not-steady", "warm-up-late", "drift", "steadiness-unknown"):
        assert flag in FLAGS
    assert not audit.is_doubtful(("steadiness-unknown",))
    assert audit.is_doubtful(("not-steady",))
