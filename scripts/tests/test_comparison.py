"""Verdicts on ratios, each with numbers that make it and numbers that just miss it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from synthetic_rows import row

from restbench.analyse.comparison import Series, combine, judged, paired, series, unpaired

METRIC = "throughput_per_s"
SLOW = [100.0, 102.0, 98.0, 101.0, 99.0]


def of(values: list[float]) -> Series:
    return Series(dict(enumerate(values, start=1)))


def times(factor: float, spread: float = 0.005) -> list[float]:
    steps = (1, -1, 0.5, -0.5, 0)
    return [value * factor * (1 + spread * step) for value, step in zip(SLOW, steps, strict=True)]


def test_a_sure_difference_above_the_margin_is_different() -> None:
    (found,) = judged([paired(of(times(1.2)), of(SLOW))])
    assert found.verdict == "different"
    assert found.estimate == pytest.approx(1.2, rel=1e-3)
    assert found.ratio is not None and found.ratio.low > 1.15
    assert found.blocks == 5


def test_a_sure_difference_within_the_margin_is_none() -> None:
    (found,) = judged([paired(of(times(1.04)), of(SLOW))])
    assert found.ratio is not None and found.ratio.low > 1
    assert found.verdict == "no detectable difference"
    assert found.could_have_seen == pytest.approx(1.05)
    (found,) = judged([paired(of(times(1.04)), of(SLOW), margin=0.02)])
    assert found.verdict == "different"


def test_a_large_ratio_that_is_not_sure_says_what_it_could_have_seen() -> None:
    (found,) = judged([paired(of(times(1.2, spread=0.3)), of(SLOW))])
    assert found.verdict == "no detectable difference"
    assert found.ratio is not None and found.could_have_seen is not None
    assert found.could_have_seen == pytest.approx(found.ratio.high / found.ratio.estimate)
    assert found.could_have_seen > found.ratio.estimate


def test_the_other_order_gives_the_same_verdict_and_the_inverse_ratio() -> None:
    for factor in (0.5, 0.951, 0.96, 1.0, 1.04, 1.051, 1.2):
        (one,) = judged([paired(of(times(factor)), of(SLOW))])
        (two,) = judged([paired(of(SLOW), of(times(factor)))])
        assert one.verdict == two.verdict
        assert one.ratio is not None and two.ratio is not None
        assert one.ratio.low == pytest.approx(1 / two.ratio.high)
        assert one.could_have_seen == pytest.approx(two.could_have_seen)


def test_pairing_takes_the_drift_of_the_machine_out() -> None:
    drifting = [100.0, 150.0, 200.0, 250.0, 300.0]
    faster = [
        value * factor for value, factor in zip(drifting, (1.2, 1.21, 1.19, 1.2, 1.2), strict=True)
    ]
    assert judged([paired(of(faster), of(drifting))])[0].verdict == "different"
    assert judged([unpaired(of(faster), of(drifting))])[0].verdict == "no detectable difference"


def test_holm_makes_a_table_stricter_than_one_comparison() -> None:
    shaky = paired(of(times(1.2, spread=0.15)), of(SLOW))
    assert shaky.p_value is not None and 0.01 < shaky.p_value < 0.05
    assert judged([shaky])[0].verdict == "different"
    beside = [paired(of(times(1.0, spread=0.1)), of(SLOW))] * 9
    strict = judged([shaky, *beside])[0]
    assert strict.verdict == "no detectable difference"
    alone = judged([shaky])[0].could_have_seen
    assert strict.could_have_seen is not None and alone is not None
    assert strict.could_have_seen > alone


def test_one_block_gives_a_ratio_and_no_verdict() -> None:
    for compare in (paired, unpaired):
        (found,) = judged([compare(of([200.0]), of([100.0]))])
        assert (found.verdict, found.estimate, found.ratio) == ("one run", 2.0, None)
        assert found.could_have_seen is None


def test_only_blocks_that_have_both_are_paired() -> None:
    first, second = of([200.0, 999.0, 210.0]), Series({1: 100.0, 3: 100.0})
    found = paired(first, second)
    assert found.blocks == 2
    assert found.estimate == pytest.approx(math.sqrt(2.0 * 2.1))
    assert paired(of([1.0]), Series({2: 1.0})).verdict == "not measured"


def test_a_wrong_answer_voids_and_a_gap_is_not_measured() -> None:
    good = series(row("java serial low 10", SLOW), METRIC)
    void = series(row("java pinned low 10", SLOW, flags=["wrong-answers"]), METRIC)
    none = series(row("java pinned low 10"), METRIC)
    for compare in (paired, unpaired):
        assert compare(good, void).verdict == "void"
        assert compare(void, good).lack == "java-pinned-unbound-low-10u gave a wrong answer"
        assert compare(good, none).lack == "java-pinned-unbound-low-10u has no throughput_per_s"
        assert compare(good, of([0.0, 1.0, 1.0])).verdict == "not measured"


def test_a_block_without_the_metric_is_left_out() -> None:
    known = series(row("java serial low 10", [100.0, None, 102.0]), METRIC)
    assert known.values == {1: 100.0, 3: 102.0}


def test_a_value_made_of_two_keeps_what_either_lacks() -> None:
    difference = combine(of([5.0, 7.0]), of([1.0, 2.0]), of=lambda one, two: one - two)
    assert difference.values == {1: 4.0, 2: 5.0}
    void = Series(lack="wrong", void=True)
    assert combine(of([1.0]), void, of=min) == void


def test_an_interval_inside_the_margin_is_equivalence_and_a_wide_one_is_not() -> None:
    (near,) = judged([paired(of(times(1.01)), of(SLOW))])
    (wide,) = judged([paired(of(times(1.01, spread=0.2)), of(SLOW))])
    assert near.equivalent
    assert not replace(near, margin=0.005).equivalent
    assert not wide.equivalent
    assert not replace(near, ratio=None).equivalent


def test_of_tables_without_any_difference_few_show_one() -> None:
    """Ten comparisons of equal techniques: with Holm at most 5 % of the tables have a false
    "different", and without it about a third of them would."""
    random = np.random.default_rng(2019)
    tables, false, careless = 150, 0, 0
    for _ in range(tables):
        values = random.lognormal(5, 0.1, size=(10, 2, 5))
        pairs = [paired(of(list(one)), of(list(two)), margin=1e-9) for one, two in values]
        false += any(each.verdict == "different" for each in judged(pairs))
        careless += any(each.verdict == "different" for one in pairs for each in judged([one]))
    assert false / tables <= 0.07
    assert careless / tables >= 0.25
