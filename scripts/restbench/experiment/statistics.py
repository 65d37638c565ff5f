"""The statistics of the method, as pure functions on numbers: no files, no cells, no printing.

Every formula has its test values in the method's text or a textbook; scipy and numpy do the work
wherever they have it. Only scipy's special functions are used here: importing `scipy.stats` takes a
second, which every command would pay for (only `analyse.factorial` imports it).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy  # its submodules are loaded when they are first used

Numbers: TypeAlias = Sequence[float] | npt.NDArray[Any]

CONFIDENCE = 0.95

#: How many completions a percentile needs before it is shown (method, rule 4). The rule names 30,
#: 1 000 and 10 000; p90 gets 300, so that 30 samples lie beyond it: as many as the rule asks for
#: a mean. Its rank is then known to +-3.4 points, which still tells it from p50 and from p95.
COMPLETIONS_NEEDED: dict[float, int] = {50: 30, 90: 300, 95: 1_000, 99: 10_000}
COMPLETIONS_FOR_A_MEAN = 30

#: With fewer blocks no number has an interval, and no ratio a verdict: the t quantile is so large
#: that the interval would say nothing (method, rule 6).
FEWEST_BLOCKS = 3

#: Each trial draws anew which workers get the kept connections: with fewer draws in a block, the
#: result depends on chance.
FEWEST_DRAWS = 8


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval, in the unit of the data."""

    mean: float
    half_width: float

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half_width


@dataclass(frozen=True)
class Ratio:
    """An estimated ratio of two means with its confidence interval (asymmetric: it is a ratio)."""

    estimate: float
    low: float
    high: float
    degrees_of_freedom: float
    log_error: float
    """The standard error of ln(estimate)."""
    kept_variance: float | None = None
    """For a ratio that predicts another cell: the part of `log_error` squared that further blocks
    do not reduce."""

    @classmethod
    def around(cls, estimate: float, degrees_of_freedom: float, log_error: float) -> Ratio:
        """The ratio with its 95 % interval, where ln(estimate) has Student's t distribution."""
        found = cls(estimate, estimate, estimate, degrees_of_freedom, log_error)
        low, high = found.ends(CONFIDENCE)
        return replace(found, low=low, high=high)

    @property
    def p_value(self) -> float:
        """The two-sided p value of the t test that the true ratio is 1."""
        return two_sided_p(math.log(self.estimate), self.log_error, self.degrees_of_freedom)

    def p_above(self, limit: float) -> float:
        """The one-sided p value of the t test that the true ratio is at most `limit`."""
        distance = math.log(self.estimate / limit)
        if self.log_error == 0:
            return 0.0 if distance > 0 else 1.0
        return t_tail(distance / self.log_error, self.degrees_of_freedom)

    def ends(self, confidence: float) -> tuple[float, float]:
        """The interval's ends at another confidence than 95 %."""
        factor = math.exp(two_sided_t(self.degrees_of_freedom, confidence) * self.log_error)
        return self.estimate / factor, self.estimate * factor


def t_interval(values: Numbers) -> Interval:
    """Student's 95 % t interval of the mean of independent values, such as one value of each block;
    values within a run are not independent."""
    data = _at_least_two(values)
    return Interval(float(data.mean()), two_sided_t(data.size - 1) * _standard_error(data))


def paired_ratio(first: Numbers, second: Numbers) -> Ratio:
    """The ratio first/second of values paired by block: a t interval on ln(first/second)."""
    if len(first) != len(second):
        raise ValueError(f"paired values differ in number: {len(first)} and {len(second)}")
    logs = np.log(_positive(first)) - np.log(_positive(second))
    return Ratio.around(math.exp(float(logs.mean())), float(logs.size - 1), _standard_error(logs))


def log_welch_ratio(first: Numbers, second: Numbers) -> Ratio:
    """The ratio of two means of unpaired runs: Welch on the log scale, by the delta method."""
    one, two = _positive(first), _positive(second)
    variances = [
        float(data.var(ddof=1)) / (data.size * float(data.mean()) ** 2) for data in (one, two)
    ]
    total = sum(variances)
    each = variances[0] ** 2 / (one.size - 1) + variances[1] ** 2 / (two.size - 1)
    freedom = total**2 / each if each else math.inf
    return Ratio.around(float(one.mean() / two.mean()), freedom, math.sqrt(total))


def prediction_ratio(ratios: Sequence[Ratio]) -> Ratio:
    """The geometric mean of several cells' ratios, with the interval in which ANOTHER cell's true
    ratio lies (random effects).

    The unweighted method of moments (Hedges and Olkin 1985): variances of single cells come from a
    few blocks, too few to weigh by. With s² the variance of ln(ratio) over the k cells and v the
    mean of their squared errors, cells differ by tau² = max(0, s² - v), and the interval is
    mean ± t[k-1] sqrt(tau² + s²/k).
    """
    logs = _at_least_two([math.log(each.estimate) for each in ratios])
    total = float(logs.var(ddof=1))
    within = float(np.mean([each.log_error**2 for each in ratios]))
    between = max(0.0, total - within)
    error = math.sqrt(between + total / logs.size)
    found = Ratio.around(math.exp(float(logs.mean())), float(logs.size - 1), error)
    return replace(found, kept_variance=between + between / logs.size)


def holm_levels(p_values: Sequence[float], level: float = 1 - CONFIDENCE) -> list[float]:
    """For each of several tests the level that its own p value must not exceed, so that ONE false
    "different" among all of them is no more likely than `level` (Holm 1979; scipy has none).

    In the order of their p values the tests get level/m, level/(m-1), ...; from the first that
    fails on, all get the level that it failed.
    """
    passed = sum(each <= level for each in holm_adjusted(p_values))
    ranks = np.argsort(np.argsort(p_values, kind="stable"))
    return [level / (len(p_values) - min(rank, passed)) for rank in ranks.tolist()]


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """Holm's test as adjusted p values: a test is significant at every level that its adjusted p
    value does not exceed."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda each: p_values[each])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def geometric_mean(values: Numbers) -> float:
    """The mean of values above 0 whose ratios matter: throughputs of different cells."""
    return math.exp(float(np.log(np.asarray(values, dtype=np.float64)).mean()))


def geometric_interval(values: Numbers) -> Ratio:
    """The geometric mean as a ratio to 1, with its interval: a t interval on the logarithms."""
    return paired_ratio(values, np.ones(len(values)))


def pooled_deviation(groups: Sequence[npt.NDArray[np.float64]]) -> float:
    """The standard deviation of values about the means of their groups."""
    squares = sum(float(((each - each.mean()) ** 2).sum()) for each in groups)
    return math.sqrt(squares / (sum(each.size for each in groups) - len(groups)))


def t_tail(t: float, degrees_of_freedom: float) -> float:
    """The probability that Student's t exceeds a value."""
    return float(scipy.special.stdtr(degrees_of_freedom, -t))


def t_quantile(probability: float, degrees_of_freedom: float) -> float:
    """The value that Student's t does not exceed with this probability."""
    return float(scipy.special.stdtrit(degrees_of_freedom, probability))


def two_sided_t(degrees_of_freedom: float, confidence: float = CONFIDENCE) -> float:
    """The value that Student's t stays within, on either side of 0, with this probability."""
    return t_quantile((1 + confidence) / 2, degrees_of_freedom)


def two_sided_p(value: float, error: float, degrees_of_freedom: float) -> float:
    """The two-sided p value of the t test that the true value is 0. With an error of 0 it is 1 for
    a value of 0, and 0 for any other value."""
    if error == 0:
        return 1.0 if value == 0 else 0.0
    return 2 * t_tail(abs(value) / error, degrees_of_freedom)


def _standard_error(values: npt.NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) / math.sqrt(values.size)


def _at_least_two(values: Numbers) -> npt.NDArray[np.float64]:
    data = np.asarray(values, dtype=np.float64)
    if data.size < 2:
        raise ValueError(f"at least two values are needed, there are {data.size}")
    return data


def _positive(values: Numbers) -> npt.NDArray[np.float64]:
    data = _at_least_two(values)
    if not (data > 0).all():
        raise ValueError("a ratio needs values above 0")
    return data
