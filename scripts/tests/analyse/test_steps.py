"""Steps over runs: found where they were planted, none in noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from restbench.analyse import steps
from restbench.analyse.steps import Course

#: Hours differ more than blocks of one hour do.
BETWEEN_RUNS, BETWEEN_BLOCKS = 0.04, 0.03
SIMULATIONS = 300


def courses(random: np.random.Generator, levels: Sequence[float], cells: int = 1) -> list[Course]:
    """Runs of 3 to 8 blocks at these levels. Half of what makes runs differ hits all cells."""
    blocks = random.integers(3, 9, len(levels))
    share = BETWEEN_RUNS / math.sqrt(2)
    common = random.normal(0, share, len(levels))
    return [
        [
            np.exp(
                math.log(level)
                + hour
                + random.normal(0, share)
                + random.normal(0, BETWEEN_BLOCKS, count)
            ).tolist()
            for level, hour, count in zip(levels, common, blocks, strict=True)
        ]
        for _ in range(cells)
    ]


@pytest.mark.parametrize("cells", [1, 20])
def test_in_noise_no_cell_of_all_has_a_step_in_at_least_95_percent(cells: int) -> None:
    random = np.random.default_rng(5)
    quiet = 0
    for _ in range(SIMULATIONS):
        found = steps.find(courses(random, [100.0] * int(random.integers(4, 15)), cells))
        quiet += not any(found)
    assert quiet >= 0.95 * SIMULATIONS


@pytest.mark.parametrize(
    ("levels", "planted"),
    [
        ([100.0] * 6 + [70.0] * 5, [6]),
        ([100.0] * 9 + [60.0], [9]),
        ([100.0] * 5 + [70.0] * 5 + [100.0] * 5, [5, 10]),
        ([100.0] * 5 + [140.0] * 5 + [200.0] * 5, [5, 10]),
    ],
    ids=["down", "the newest run", "down and up again", "a staircase"],
)
def test_planted_steps_are_found_where_they_are(levels: list[float], planted: list[int]) -> None:
    random = np.random.default_rng(7)
    found = [steps.find(courses(random, levels))[0] for _ in range(100)]
    right = [each for each in found if [step.at for step in each] == planted]
    assert len(right) >= 85
    for n, at in enumerate(planted):
        true = levels[at] / levels[at - 1]
        held = sum(each[n].ratio.low <= true <= each[n].ratio.high for each in right)
        assert held >= 0.88 * len(right)


def test_of_the_cells_said_to_have_a_step_at_most_5_percent_have_none() -> None:
    random = np.random.default_rng(11)
    false_shares = []
    for _ in range(60):
        changed = courses(random, [100.0] * 6 + [60.0] * 6, 8)
        same = courses(random, [100.0] * 12, 32)
        found = steps.find([*changed, *same])
        right, wrong = sum(map(bool, found[:8])), sum(map(bool, found[8:]))
        assert right == 8
        false_shares.append(wrong / (right + wrong))
    assert sum(false_shares) / len(false_shares) <= 0.05


def test_of_fewer_than_four_runs_nothing_is_said() -> None:
    assert steps.find([[[100.0]] * 2 + [[10.0]]]) == [[]]
    assert [step.at for step in steps.find([[[100.0]] * 3 + [[10.0]]])[0]] == [3]


def test_a_change_within_the_margin_is_none_however_sure() -> None:
    assert steps.find([[[100.0]] * 9 + [[103.0]] * 9]) == [[]]


def test_one_slow_run_among_others_is_no_step() -> None:
    values = [[100.0 + n % 3] for n in range(12)]
    values[5] = [60.0]
    assert steps.find([values]) == [[]]


def test_students_sleep_data_have_his_t() -> None:
    """Cushny and Peebles' hours of sleep (Student 1908), as two groups: t = -1.8608 on 18 degrees
    of freedom, difference -1.58 (-3.363874, 0.203874)."""
    one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    t, change = steps._cut_at(np.array(one + two), np.array([0]), np.array([10]))
    assert (t[0], change[0]) == (pytest.approx(1.8608, abs=5e-5), pytest.approx(1.58))
    (step,) = steps._steps(np.array(one + two), [10])
    assert math.log(step.ratio.low) == pytest.approx(-0.203874, abs=5e-7)
    assert math.log(step.ratio.high) == pytest.approx(3.363874, abs=5e-7)


def test_the_level_of_benjamini_and_hochberg() -> None:
    """Their own example (1995, table 1): 15 p values, four of which are below the line at 5 %."""
    theirs = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
              0.4262, 0.5719, 0.6528, 0.7590, 1.000]  # fmt: skip
    level = steps._benjamini_hochberg(theirs, 0.05)
    assert level == pytest.approx(4 * 0.05 / 15)
    assert sum(p <= level for p in theirs) == 4
    assert steps._benjamini_hochberg([0.9, 1.0], 0.05) == 0
