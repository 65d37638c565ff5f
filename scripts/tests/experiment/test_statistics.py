"""Expected values are the method's own (method, "Formulas") or a textbook's."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from restbench.experiment import statistics

SERIES = [101, 103, 102, 104, 106, 105, 103, 101, 99, 98, 97, 99, 100, 102, 103, 101, 100, 98, 99]
SERIES = [*SERIES, 101]
FIRST = [584.73, 581.95, 580.53]
SECOND = [560.35, 563.38, 578.81]


def test_a_t_interval_has_the_methods_half_width() -> None:
    interval = statistics.t_interval(SERIES)
    assert interval.mean == pytest.approx(101.1)
    assert interval.half_width == pytest.approx(1.13528, abs=5e-6)
    assert (interval.low, interval.high) == pytest.approx((99.96472, 102.23528), abs=1e-5)


def test_a_t_interval_needs_two_runs() -> None:
    with pytest.raises(ValueError, match="at least two"):
        statistics.t_interval([5.0])


def test_log_welch_has_the_methods_interval() -> None:
    ratio = statistics.log_welch_ratio(FIRST, SECOND)
    assert ratio.estimate == pytest.approx(1.0262373, abs=5e-8)
    assert ratio.degrees_of_freedom == pytest.approx(2.176531, abs=5e-7)
    assert (ratio.low, ratio.high) == pytest.approx((0.9850009, 1.0692000), abs=5e-7)


def test_log_welch_of_values_without_spread_is_a_point() -> None:
    ratio = statistics.log_welch_ratio([6, 6], [3, 3])
    assert (ratio.low, ratio.estimate, ratio.high) == (2, 2, 2)


def test_a_paired_ratio_takes_the_blocks_drift_out() -> None:
    # By hand: ln ratios are ln2, ln2, ln2 whatever the block's level was.
    ratio = statistics.paired_ratio([2, 20, 200], [1, 10, 100])
    assert (ratio.low, ratio.estimate, ratio.high) == pytest.approx((2, 2, 2))
    # By hand: logs 0 and ln4; mean ln2, s = ln4/sqrt2, t[.975;1] = 12.70620, half-width 8.80727.
    wide = statistics.paired_ratio([1, 4], [1, 1])
    assert wide.estimate == pytest.approx(2)
    assert wide.high == pytest.approx(2 * np.exp(12.70620474 * np.log(4) / 2), rel=1e-6)


@pytest.mark.parametrize("second", [[1.0, 0.0], [1.0, -2.0]])
def test_ratios_refuse_values_that_are_not_positive(second: list[float]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        statistics.paired_ratio([1.0, 2.0], second)
    with pytest.raises(ValueError, match="above 0"):
        statistics.log_welch_ratio([1.0, 2.0], second)


def test_paired_values_must_be_pairs() -> None:
    with pytest.raises(ValueError, match="differ in number: 3 and 2"):
        statistics.paired_ratio([1, 2, 3], [1, 2])


def test_the_p_value_of_a_paired_ratio_is_scipys_t_test_of_the_logs() -> None:
    logs = np.log(np.array(FIRST) / np.array(SECOND))
    ratio = statistics.paired_ratio(FIRST, SECOND)
    assert ratio.p_value == pytest.approx(stats.ttest_1samp(logs, 0).pvalue)
    assert statistics.paired_ratio([2, 4], [2, 4]).p_value == 1
    assert statistics.paired_ratio([2, 4], [1, 2]).p_value == 0


@pytest.mark.parametrize("freedom", [1, 1.7, 4, 19, math.inf])
def test_students_t_is_scipys(freedom: float) -> None:
    for probability in (0.5, 0.9, 0.975, 0.9995):
        t = statistics.t_quantile(probability, freedom)
        assert t == pytest.approx(stats.t.ppf(probability, freedom), abs=1e-12)
        if freedom < math.inf:
            assert statistics.t_tail(t, freedom) == pytest.approx(1 - probability)
    values = np.array(FIRST)
    assert statistics.t_interval(FIRST).half_width == pytest.approx(
        stats.t.ppf(0.975, values.size - 1) * stats.sem(values)
    )
    assert statistics.geometric_mean(FIRST) == pytest.approx(stats.gmean(FIRST))


@pytest.mark.parametrize("command", ["measuring", "compare"])
def test_no_command_pays_for_statistics_that_it_may_not_need(command: str) -> None:
    parts = "{'scipy.stats', 'scipy.special'}"
    code = f"import sys; import restbench.commands.{command}; print(*{parts} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_an_interval_that_ends_at_1_has_the_p_value_of_its_level() -> None:
    ratio = statistics.log_welch_ratio(FIRST, SECOND)
    touching = replace(ratio, estimate=ratio.estimate / ratio.low)
    assert touching.p_value == pytest.approx(0.05)


def test_a_ratio_has_ends_at_any_confidence_and_one_sided_p_values() -> None:
    ratio = statistics.log_welch_ratio(FIRST, SECOND)
    assert ratio.ends(0.95) == pytest.approx((ratio.low, ratio.high))
    low, high = ratio.ends(0.90)
    assert ratio.p_above(low) == pytest.approx(0.05)
    assert ratio.p_above(high) == pytest.approx(0.95)
    assert 2 * ratio.p_above(1) == pytest.approx(ratio.p_value)


def test_holms_levels_reject_what_the_textbook_rejects() -> None:
    # By hand at 0.05: .005 <= .05/4 and .01 <= .05/3 are rejected, .03 > .05/2 ends it.
    assert statistics.holm_levels([0.01, 0.04, 0.03, 0.005]) == pytest.approx(
        [0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4]
    )
    # .026 would pass the last step's .05 by itself, but the step before it has failed.
    assert statistics.holm_levels([0.026, 0.026]) == pytest.approx([0.025, 0.025])
    assert statistics.holm_levels([0.04]) == pytest.approx([0.05])
    assert statistics.holm_levels([]) == []


def test_a_geometric_mean_has_the_interval_of_its_logarithms() -> None:
    mean = statistics.geometric_interval([1, 10, 100])
    assert mean.estimate == pytest.approx(10)
    spread = 4.30265273 * math.log(10) / 3**0.5  # t for 2 degrees of freedom, 97.5 %
    assert mean.low == pytest.approx(10 * math.exp(-spread))
    assert mean.high == pytest.approx(10 * math.exp(spread))
