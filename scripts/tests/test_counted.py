"""Counted values say of themselves exactly what they would say one by one."""

from __future__ import annotations

import numpy as np
import pytest

from restbench.analyse import counted


@pytest.mark.parametrize("size", [1, 2, 3, 7, 99, 100, 101, 1_000, 1_001])
def test_percentiles_are_those_of_the_values_one_by_one(size: int) -> None:
    values = np.random.default_rng(size).integers(0, size // 2 + 1, size)
    found = counted.of(values)
    for percent in (0, 1, 10, 25, 33.3, 50, 75, 90, 95, 99, 100):
        expected = np.percentile(values, percent, method="inverted_cdf")
        assert found.percentile(percent) == expected, f"p{percent} of {size}"
    assert found.size == size
    assert found.mean == pytest.approx(values.mean())
    assert found.largest == values.max()


@pytest.mark.parametrize(
    ("percent", "expected"), [(5, 15), (30, 20), (40, 20), (50, 35), (100, 50)]
)
def test_percentiles_are_by_nearest_rank(percent: float, expected: float) -> None:
    # The textbook example of the nearest-rank method: an observed value, never an interpolation.
    assert counted.of([15, 20, 35, 40, 50]).percentile(percent) == expected


def test_a_percentile_is_the_smallest_value_that_so_many_do_not_exceed() -> None:
    found = counted.of(range(1, 1_001))
    assert [found.percentile(each) for each in (50, 99, 99.9, 100)] == [500, 990, 999, 1_000]


def test_the_slowest_percent_counts() -> None:
    fast_then_slow = [1] * 9_899 + [900] * 101
    assert counted.of(fast_then_slow).supported_percentile(99) == 900


@pytest.mark.parametrize(("percent", "needed"), [(50, 30), (90, 300), (95, 1_000), (99, 10_000)])
def test_a_percentile_that_the_count_does_not_support_is_not_shown(
    percent: float, needed: int
) -> None:
    assert counted.of([1] * (needed - 1)).supported_percentile(percent) is None
    assert counted.of([1] * needed).supported_percentile(percent) == 1


def test_what_is_above_a_limit_is_counted_as_often_as_it_came() -> None:
    found = counted.of([1, 5, 5, 9])
    assert [found.above(limit) for limit in (0, 1, 5, 9)] == [4, 3, 1, 0]


def test_nothing_has_neither_mean_nor_percentile() -> None:
    nothing = counted.of([])
    assert (nothing.size, nothing.mean, nothing.largest) == (0, None, None)
    assert nothing.supported_percentile(50) is None
    with pytest.raises(ValueError, match="nothing has no percentile"):
        nothing.percentile(50)
