"""The best cell without the winner's curse: values by hand; what picking the winner would do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from restbench.analyse.comparison import best_of, best_of_others, indistinguishable
from restbench.experiment.statistics import Ratio, geometric_mean, paired_ratio

#: A line a block, of 1, 2, 3 and 5 workers.
BLOCKS = [
    (100, 118, 121, 119),
    (101, 117, 118, 120),
    (99, 120, 119, 118),
    (102, 119, 122, 117),
    (100, 116, 120, 119),
]
VALUES = {n: [float(block[at]) for block in BLOCKS] for at, n in enumerate((1, 2, 3, 5))}


def against_best(candidate: int, values: dict[int, list[float]]) -> Ratio:
    """A claim's ratio: block by block over the cell that the other blocks pick."""
    chosen = best_of_others(values)
    return paired_ratio(values[candidate], [values[each][n] for n, each in enumerate(chosen)])


def test_the_best_has_the_highest_geometric_mean() -> None:
    means = [geometric_mean(of) for of in VALUES.values()]
    assert means == pytest.approx([100.3948, 117.9915, 119.9917, 118.5956], abs=5e-5)
    assert best_of(VALUES) == 3
    assert best_of(VALUES, more_is_better=False) == 1


def test_a_candidate_is_held_against_the_best_of_the_other_blocks() -> None:
    assert best_of_others(VALUES) == (3,) * 5
    logs = [math.log(five / three) for five, three in zip(VALUES[5], VALUES[3], strict=True)]
    assert logs == pytest.approx([-0.016667, 0.016807, -0.008439, -0.041847, -0.008368], abs=1e-6)
    ratio = against_best(5, VALUES)
    assert ratio.estimate == pytest.approx(0.988365, abs=5e-7)
    assert (ratio.low, ratio.high) == pytest.approx((0.962899, 1.014505), abs=5e-7)
    assert ratio.low > 0.95, "not inferior"


def test_what_cannot_be_told_from_the_best_is_found_with_holm() -> None:
    found = indistinguishable(VALUES)
    assert list(found) == [2, 3, 5]
    assert found[3] == 1
    # Of .0889 and .2812 the smaller is doubled.
    assert found[2] == pytest.approx(2 * 0.0889, abs=1e-4)
    assert found[5] == pytest.approx(0.2812, abs=1e-4)


def test_the_first_cell_is_told_from_the_best() -> None:
    assert list(indistinguishable({1: VALUES[1], 3: VALUES[3]})) == [3]
    assert list(indistinguishable({1: VALUES[1], 3: VALUES[3]}, more_is_better=False)) == [1]


def test_of_cells_that_are_alike_the_best_is_not_better_than_another() -> None:
    """Held against the cell that looks best in these very blocks, any other looks worse."""
    generator = np.random.default_rng(2022)
    left_out, cursed = [], []
    for _ in range(300):
        values = {n: list(np.exp(generator.normal(0, 0.05, 5))) for n in range(8)}
        left_out.append(math.log(against_best(0, values).estimate))
        best = values[best_of(values)]
        cursed.append(math.log(geometric_mean(values[0]) / geometric_mean(best)))
    assert abs(np.mean(left_out)) < 0.006
    assert np.mean(cursed) < -0.02
