"""Counted values say of themselves exactly what they would say one by one."""

from __future__ import annotations

import numpy as np
import pytest

from restbench import counted, statistics
from restbench.timeline import PERCENTS


@pytest.mark.parametrize("size", [1, 2, 3, 7, 99, 100, 101, 1_000, 1_001])
def test_percentiles_are_those_of_the_values_one_by_one(size: int) -> None:
    values = np.random.default_rng(size).integers(0, size // 2 + 1, size)
    found = counted.of(values)
    for percent in (*(each for each in PERCENTS if each != 99.9), 0, 1, 33.3):
        expected = statistics.percentile(values, percent)
        assert found.percentile(percent) == expected, f"p{percent} of {size}"
    assert found.size == size
    assert found.mean == pytest.approx(values.mean())
    assert found.largest == values.max()


def test_a_percentile_is_the_smallest_value_that_so_many_do_not_exceed() -> None:
    found = counted.of(range(1, 1_001))
    assert [found.percentile(each) for each in (50, 99, 99.9, 100)] == [500, 990, 999, 1_000]


def test_a_percentile_that_the_count_does_not_support_is_none() -> None:
    assert counted.of(range(999)).supported_percentile(95) is None
    assert counted.of(range(1_000)).supported_percentile(95) == 949


def test_nothing_has_neither_mean_nor_percentile() -> None:
    nothing = counted.of([])
    assert (nothing.size, nothing.mean, nothing.largest) == (0, None, None)
    assert nothing.supported_percentile(50) is None
    with pytest.raises(ValueError, match="nothing has no percentile"):
        nothing.percentile(50)
