"""The verdicts of rules 6 and 7: what a ratio with its interval says of an expectation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from restbench.analyse.comparison import Comparison, Series, exact, paired, pooled
from restbench.experiment.claim_file import Expectation
from restbench.experiment.profile import LONG_BLOCKS, LONG_TIMES
from restbench.experiment.statistics import Ratio, t_quantile
from restbench.judge.verdicts import (
    DECIDED,
    Verdict,
    detailed_text,
    is_on_margin,
    judge_table,
    more_times,
    prospect,
    verdict,
)

#: Five blocks: t[.975; 4] = 2.776, t[.95; 4] = 2.132.
FREEDOM = 4.0


def known(estimate: float, high: float, margin: float = 0.05) -> Comparison:
    """A ratio of five blocks with the upper end of its 95 % interval."""
    error = math.log(high / estimate) / t_quantile(0.975, FREEDOM)
    ratio = Ratio(estimate, estimate**2 / high, high, FREEDOM, error)
    return Comparison(margin, estimate, ratio, 5)


@pytest.mark.parametrize(
    ("estimate", "high", "expect", "told"),
    [
        # The first four, and what is not measurable, were once one verdict: "not detected".
        (1.000, 1.001, "greater", "no-effect"),
        (1.030, 1.031, "greater", "smaller-than-margin"),
        (0.961, 0.962, "greater", "smaller-than-margin"),
        (1.000, 1.524, "greater", "too-imprecise"),
        (1.200, 1.210, "greater", "reproduced"),
        (0.800, 0.810, "greater", "contradicted"),
        # Really a difference, and not yet sure which side of the margin.
        (1.045, 1.080, "greater", "too-imprecise"),
        # One-sided by the 90 % interval: to 1.0494 here, where the 95 % one ends at 1.064.
        (1.000, 1.064, "not greater", "reproduced"),
        (1.000, 1.066, "not greater", "too-imprecise"),
        (1.000, 1.064, "same", "reproduced"),
        (1.000, 1.066, "same", "too-imprecise"),
        (0.500, 0.600, "not greater", "reproduced"),
        (0.500, 0.600, "same", "contradicted"),
        # Contradicted where the whole 95 % interval lies beyond the margin.
        (1.200, 1.368, "not greater", "contradicted"),
        (1.200, 1.374, "not greater", "too-imprecise"),
    ],
)
def test_rule_7_each_state_of_a_ratio_has_its_own_verdict(
    estimate: float, high: float, expect: Expectation, told: Verdict
) -> None:
    assert verdict(known(estimate, high), expect) == told
    mirror: dict[str, Expectation] = {
        "greater": "less", "not greater": "not less", "same": "same"
    }  # fmt: skip
    swapped = known(1 / estimate, high / estimate**2)
    assert verdict(swapped, mirror[expect]) == told, "the other order says the same"


def test_rule_7_without_a_number_or_an_interval_nothing_is_decided() -> None:
    for expect in get_args(Expectation):
        assert verdict(Comparison(lack="gone"), expect) == "not-measured"
        told = "contradicted" if expect == "equal" else "too-imprecise"
        assert verdict(Comparison(estimate=9.0, blocks=1), expect) == told


def test_rule_6_two_blocks_have_no_verdict_in_any_direction_however_narrow_their_interval() -> None:
    """Only `equal`, which estimates nothing, has one."""
    nine, one = Series({1: 9.0, 4: 9.01}), Series({1: 1.0, 4: 1.0})
    for expect in get_args(Expectation)[:-1]:
        for found in (paired(nine, one), paired(one, nine), paired(one, nine, margin=9.0)):
            assert found.half_width_pct is not None and found.half_width_pct < 2
            assert judge_table([(found, expect)]) == ["too-imprecise"]
            assert not is_on_margin(found, expect)
            assert more_times(found, expect) == pytest.approx(3 / 2)
            assert detailed_text("too-imprecise", found, expect, 4.0) == (
                "too imprecise (2 blocks, a verdict needs 3, 4 minutes more)"
            )
    assert judge_table([(exact(one, one), "equal")]) == ["reproduced"]
    assert judge_table([(exact(nine, one), "equal")]) == ["contradicted"]


def test_rule_7_holm_does_not_count_ratios_of_two_blocks() -> None:
    ratio = known(1.2, 1.2 * math.exp(0.1823 * 2.776 / 3.3))
    few = replace(known(0.99, 1.4), blocks=2)
    assert judge_table([(ratio, "less"), *[(few, "not less")] * 9])[0] == "contradicted"


def test_rule_7_holm_counts_what_may_contradict_and_not_what_must_hold() -> None:
    """p = .03 for S/AF: it holds among any number of parts, and contradicts only alone."""
    ratio = known(1.2, 1.2 * math.exp(0.1823 * 2.776 / 3.3))
    assert ratio.ratio is not None
    assert 0.02 < ratio.ratio.p_value < 0.04
    others: list[tuple[Comparison, Expectation]] = [(known(0.99, 1.4), "not less")] * 9
    assert judge_table([(ratio, "greater"), *others])[0] == "reproduced"
    assert judge_table([(ratio, "less")]) == ["contradicted"]
    assert judge_table([(ratio, "less"), *others])[0] == "too-imprecise"


def test_rule_6_a_verdict_stands_where_the_look_before_had_it() -> None:
    now, wide = known(1.2, 1.25), known(1.2, 1.9)
    assert judge_table([(replace(now, earlier=wide), "greater")]) == ["too-imprecise"]
    assert judge_table([(replace(now, earlier=now), "greater")]) == ["reproduced"]
    first = replace(now, blocks=3, earlier=replace(wide, blocks=2))
    assert judge_table([(first, "greater")]) == ["reproduced"], "three blocks are one look"


def test_rule_6_what_is_undecided_says_how_many_times_the_blocks_it_takes() -> None:
    """By hand. Half-widths of ln(ratio) are t[n - 1] s / sqrt(n), with s the blocks' spread."""
    # ln 1.2 = .1823 shall be the half-width; it is twice that with five blocks, so s = .2937. Nine
    # blocks have t = 2.306, .2258; twelve 2.201, .1866; thirteen 2.179, .1775.
    assert more_times(known(1.2, 1.2 * 1.2**2), "greater") == pytest.approx(13 / 5)
    # 1.0 is inside the margin where the 90 % half-width is ln 1.05 = .0488. It is three times that
    # with five blocks: s = .1535. 28 blocks have t = 1.703, .0494; 29 have 1.701, .0485.
    half = math.log(1.05) * t_quantile(0.975, FREEDOM) / t_quantile(0.95, FREEDOM)
    for expect in ("greater", "same", "not greater", "not less"):
        assert more_times(known(1.0, math.exp(3 * half)), expect) == pytest.approx(29 / 5)
    # On the margin no width decides: the finest that is asked for is 2 %, half of what it is.
    on_margin = known(1.05, 1.05 * 1.02**2)
    assert more_times(on_margin, "not greater") == pytest.approx(13 / 5)
    assert more_times(known(1.05, 1.05 * 1.0199), "not greater") is None
    assert more_times(Comparison(estimate=1.0, blocks=1), "same") is None


def test_rule_6_a_pool_of_cells_gains_no_degrees_of_freedom_by_more_blocks() -> None:
    """Its quantile is that of its cells: twice too wide takes four times the blocks."""
    pool = replace(known(1.2, 1.2 * 1.2**1.999), blocks=3)
    assert more_times(pool, "greater") == pytest.approx(4)


def test_rule_6_blocks_narrow_of_a_pool_only_what_is_not_between_its_cells() -> None:
    """By hand. The error shall be w = ln 1.2 / 2.776. It is √(2.5) w, of whose square .5 w² is
    between cells: 2 w² shall be .5 w², which takes four times the blocks, and not 2.5 times."""
    wanted = math.log(1.2) / t_quantile(0.975, FREEDOM)
    pool = known(1.2, 1.2 * math.exp(math.sqrt(2.499) * math.log(1.2)))
    assert pool.ratio is not None
    between = replace(pool.ratio, kept_variance=wanted**2 / 2)
    assert more_times(replace(pool, ratio=between), "greater") == pytest.approx(4)
    apart = replace(pool.ratio, kept_variance=1.001 * wanted**2)
    assert more_times(replace(pool, ratio=apart), "greater") is None


def told(found: Comparison, minutes: float | None = None) -> str:
    return detailed_text("too-imprecise", found, "not greater", minutes)


def test_an_undecided_ratio_is_told_with_its_own_width_and_minutes() -> None:
    wide = known(1.0, 1.0754)
    assert told(wide, 12.3) == "too imprecise (± 7.5 %, 12 minutes more)"
    assert told(wide, 0.2) == "too imprecise (± 7.5 %, 1 minute more)"
    assert told(wide) == "too imprecise (± 7.5 %)"
    assert told(known(1.05, 1.066)) == "too imprecise (± 1.5 %, on the margin)"
    assert told(known(1.0, 9.35), 62) == "too imprecise (more than ± 100 %, 62 minutes more)"
    assert "one block" in told(Comparison(estimate=2.0, blocks=1))
    assert detailed_text("smaller-than-margin", wide, "greater") == "smaller than margin"


@pytest.mark.parametrize(("now", "size"), [(known(1.076, 1.097), 2.0), (known(1.2, 1.25), 4.2)])
def test_rule_6_what_only_waits_for_the_next_look_is_not_on_the_margin(
    now: Comparison, size: float
) -> None:
    """N1-client of a kept run, 1.076 [1.055, 1.097], was called on the margin of 5 %."""
    found = replace(now, earlier=replace(known(1.04, 1.09), blocks=4))
    assert judge_table([(found, "not greater")]) == ["too-imprecise"]
    assert not is_on_margin(found, "not greater")
    assert more_times(found, "not greater") == pytest.approx(6 / 5)
    assert told(found, 12.0) == (
        f"too imprecise (± {size:.1f} %, to be confirmed by one more block, 12 minutes more)"
    )


def test_the_pool_of_several_cells_has_an_interval_for_another_cell() -> None:
    """By hand: ln ratios -.02, 0, .02, .04 have a mean of .01 and s² = 2/3 · 10^-3. With errors of
    .01 cells differ by tau² = s² - 10^-4; the error for a cell is √(tau² + s²/4) = .0271."""
    logs = [-0.02, 0.0, 0.02, 0.04]
    cells = [known(math.exp(each), math.exp(each + 0.01 * 2.7764451)) for each in logs]
    found = pooled(cells).ratio
    assert found is not None
    assert found.estimate == pytest.approx(math.exp(0.01))
    assert found.log_error == pytest.approx(math.sqrt(2e-3 / 3 - 1e-4 + 2e-3 / 12), rel=1e-4)
    assert found.degrees_of_freedom == 3
    assert found.high == pytest.approx(math.exp(0.01 + 3.1824463 * found.log_error))
    assert pooled([*cells, Comparison(lack="gone")]).lack == "gone"
    assert pooled(cells[:2]).ratio is None


def test_f1_can_be_decided_although_no_cell_can() -> None:
    """56 equal cells, each known within 3 %: hardly ever all of them, and always the pool."""
    draw = np.random.default_rng(2019)
    alone, together_ = 0, 0
    for _ in range(20):
        logs = draw.normal(0, 0.024, (56, 5))
        cells = [_of(each, margin=1 / 0.97 - 1) for each in logs]
        alone += all(verdict(each, "not less") == "reproduced" for each in cells)
        together_ += verdict(pooled(cells), "not less") == "reproduced"
    assert (alone, together_) == (0, 20)


def _of(logs: np.typing.NDArray[np.float64], margin: float = 0.05) -> Comparison:
    values = dict(enumerate(np.exp(logs).tolist()))
    return paired(Series(values), Series(dict.fromkeys(values, 1.0)), margin)


#: What is false of a true ratio of 1, of the margin and of its inverse. What lies on the margin is
#: beyond it.
WRONG: dict[Expectation, tuple[tuple[Verdict, ...], ...]] = {
    "greater": (
        ("reproduced", "contradicted"),
        ("no-effect", "contradicted"),
        ("no-effect", "reproduced"),
    ),
    "not greater": (("contradicted",), ("reproduced",), ("contradicted",)),
    "same": (("contradicted",), ("reproduced",), ("reproduced",)),
}
EXTENDED = 4


@pytest.mark.parametrize(("fewest", "most"), [(3, 8), (LONG_BLOCKS, LONG_TIMES * LONG_BLOCKS)])
@pytest.mark.parametrize("extended", [0, EXTENDED])
def test_rule_6_of_two_thousand_runs_at_most_five_percent_end_with_a_wrong_verdict(
    fewest: int, most: int, extended: int
) -> None:
    """Looks after 3 to 8 blocks, in a long run 5 to 15, stopped where decided; then, as a user may,
    4 blocks more.
    The noise of a block's ratio is 2, 4, 6, 10 or 20 %, as of trials or of windows."""
    draw = np.random.default_rng(2019)
    wrong = dict.fromkeys(WRONG, 0)
    runs = dict.fromkeys(WRONG, 0)
    expectations = list(WRONG)
    for number in range(2_000):
        expect, truth = expectations[number % 3], number // 3 % 3
        noise = (0.02, 0.04, 0.06, 0.10, 0.20)[number // 9 % 5]
        true = (0.0, math.log(1.05), -math.log(1.05))[truth]
        logs = draw.normal(true, noise, most + EXTENDED)
        wrong[expect] += (
            _ends(logs, expect, range(fewest, most + 1), extended) in WRONG[expect][truth]
        )
        runs[expect] += 1
    assert sum(wrong.values()) <= 0.05 * 2_000
    assert all(wrong[expect] <= 0.05 * runs[expect] for expect in WRONG)


def _ends(
    logs: np.typing.NDArray[np.float64], expect: Expectation, looks: Iterable[int], extended: int
) -> Verdict:
    for blocks in looks:
        (last,) = judge_table([(_of(logs[:blocks]), expect)])
        if last in DECIDED:
            break
    (last,) = judge_table([(_of(logs[: blocks + extended]), expect)])
    return last


@pytest.mark.parametrize(
    ("estimate", "expect", "told"),
    [
        (1.50, "greater", "holds"),
        (1.20, "greater", "near"),
        (0.90, "greater", "near"),
        (0.85, "greater", "fails"),
        (0.50, "less", "holds"),
        (2.00, "less", "fails"),
        (1.00, "same", "near"),
        (1.50, "same", "fails"),
        (0.70, "not greater", "holds"),
        (1.00, "not greater", "near"),
        (1.30, "not greater", "fails"),
        (1.30, "not less", "holds"),
        (0.70, "not less", "fails"),
        (0.70, "equal", None),
        (None, "greater", None),
    ],
)
def test_an_estimate_alone_is_near_a_verdict_or_far_from_one(
    estimate: float | None, expect: Expectation, told: str | None
) -> None:
    """The margin is 5 %, and an estimate is near within 20 % of it: 1.05 x 1.2 = 1.26."""
    assert prospect(Comparison(0.05, estimate, blocks=1), expect) == told
