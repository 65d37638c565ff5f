"""What the judgement of warm-up finds, and how often it cries wolf: simulated, seeded, through the
real functions."""

import numpy as np
import numpy.typing as npt
import pytest

from restbench.analyse import steady

BINS, LOADS = 60, 400
START_MS = 1_795_225_867_000
#: A third of the load is the planned warm-up, as in the shortest profiles.
WINDOW_MS = START_MS + 1_000 * BINS // 3


def ends_of(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Completions, so many in each second."""
    return START_MS + 1_000 * np.repeat(np.arange(counts.size), counts) + 500


def judged(counts: npt.NDArray[np.int64]) -> steady.Steadiness:
    end_ms = START_MS + 1_000 * counts.size
    return steady.judge(steady.course(ends_of(counts), START_MS, end_ms), WINDOW_MS)


def unsteady(speed: npt.NDArray[np.float64], a_bin: int, correlation: float = 0.0) -> float:
    """The share of loads without a steady window; the noise is Poisson's, or autocorrelated."""
    generator = np.random.default_rng(2019)
    found = 0
    for _ in range(LOADS):
        mean = a_bin * speed
        if correlation:
            counts = np.rint(mean + np.sqrt(mean) * _correlated(generator, correlation))
        else:
            counts = generator.poisson(mean)
        found += judged(np.maximum(counts, 0).astype(np.int64)).steady is False
    return found / LOADS


def _correlated(generator: np.random.Generator, correlation: float) -> npt.NDArray[np.float64]:
    noise = generator.normal(size=BINS)
    series = np.empty(BINS)
    series[0] = noise[0]
    for n in range(1, BINS):
        series[n] = correlation * series[n - 1] + np.sqrt(1 - correlation**2) * noise[n]
    return series


@pytest.mark.parametrize("a_bin", [20, 500])
def test_a_load_without_warm_up_is_hardly_ever_called_unsteady(a_bin: int) -> None:
    assert unsteady(np.ones(BINS), a_bin) <= 0.01
    assert unsteady(np.ones(BINS), a_bin, correlation=0.6) <= 0.01


def test_rule_3_a_start_up_longer_than_the_window_does_not_make_a_clean_window_unsteady() -> None:
    """30 s of warm-up and a window of 20 s: what ends 6 s before the window was called unsteady in
    every load, as MSER looked at all 50 s (review B4)."""
    counts = np.where(np.arange(50) < 24, 250, 500)
    noisy = np.random.default_rng(1).poisson(counts)
    course = steady.Course(noisy, 1_000, START_MS)
    assert steady.judge(course, START_MS + 30_000).steady
    into = np.random.default_rng(1).poisson(np.where(np.arange(50) < 31, 250, 500))
    assert not steady.judge(steady.Course(into, 1_000, START_MS), START_MS + 30_000).steady


def test_too_few_bins_or_completions_or_a_short_window_are_not_judged() -> None:
    short = START_MS + 1_000 * BINS - 9_000
    for counts, start_ms in (
        (np.full(29, 500), START_MS + 10_000),
        (np.full(BINS, 1), WINDOW_MS),
        (np.full(BINS, 500), short),
    ):
        course = steady.Course(counts, 1_000, START_MS)
        assert steady.judge(course, start_ms) == steady.Steadiness()


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
