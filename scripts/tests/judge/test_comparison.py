"""Ratios of rows with their intervals (their verdicts: test_verdicts)."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from stated_claims import BASE, times
from synthetic_rows import row

from restbench.analyse.comparison import Series, combine, paired, series, unpaired
from restbench.judge.verdicts import verdict

METRIC = "throughput_per_s"


def of(values: list[float]) -> Series:
    return Series(dict(enumerate(values, start=1)))


def test_the_other_order_gives_the_inverse_ratio() -> None:
    one, two = paired(of(times(1.2)), of(BASE)), paired(of(BASE), of(times(1.2)))
    assert one.ratio is not None and two.ratio is not None
    assert one.estimate == pytest.approx(1.2, rel=1e-3)
    assert one.ratio.low == pytest.approx(1 / two.ratio.high)
    assert one.half_width_pct == pytest.approx(two.half_width_pct)


def test_a_ratio_knows_what_it_was_without_the_last_block() -> None:
    found = paired(of(times(1.2)), of(BASE))
    assert found.earlier == replace(paired(of(times(1.2)[:4]), of(BASE[:4])), earlier=None)
    assert found.earlier is not None and found.earlier.blocks == 4


def test_pairing_takes_the_drift_of_the_machine_out() -> None:
    drifting = [100.0, 150.0, 200.0, 250.0, 300.0]
    faster = [
        value * factor for value, factor in zip(drifting, (1.2, 1.21, 1.19, 1.2, 1.2), strict=True)
    ]
    assert verdict(paired(of(faster), of(drifting)), "greater") == "reproduced"
    assert verdict(unpaired(of(faster), of(drifting)), "greater") == "too-imprecise"


def test_one_block_gives_a_ratio_and_no_verdict() -> None:
    for compare in (paired, unpaired):
        found = compare(of([200.0]), of([100.0]))
        assert (found.blocks, found.estimate, found.ratio) == (1, 2.0, None)
        assert found.half_width_pct is None


def test_only_blocks_that_have_both_are_paired() -> None:
    first, second = of([200.0, 999.0, 210.0]), Series({1: 100.0, 3: 100.0})
    found = paired(first, second)
    assert found.blocks == 2
    assert found.estimate == pytest.approx(math.sqrt(2.0 * 2.1))
    assert paired(of([1.0]), Series({2: 1.0})).lack == "no block has measured both cells"


def test_a_wrong_answer_voids_and_a_gap_is_not_measured() -> None:
    good = series(row("java serial low 10", BASE), METRIC)
    void = series(row("java pinned low 10", BASE, flags=["wrong-answers"]), METRIC)
    none = series(row("java pinned low 10"), METRIC)
    for compare in (paired, unpaired):
        assert compare(good, void).void
        assert compare(void, good).lack == "java-pinned-unbound-low-10u gave a wrong answer"
        assert compare(good, none).lack == "java-pinned-unbound-low-10u has no throughput_per_s"
        assert "no ratio" in (compare(good, of([0.0, 1.0, 1.0])).lack or "")


def test_a_block_without_the_metric_is_left_out() -> None:
    known = series(row("java serial low 10", [100.0, None, 102.0]), METRIC)
    assert known.values == {1: 100.0, 3: 102.0}


def test_a_value_made_of_two_keeps_what_either_lacks() -> None:
    difference = combine(of([5.0, 7.0]), of([1.0, 2.0]), of=lambda one, two: one - two)
    assert difference.values == {1: 4.0, 2: 5.0}
    void = Series(lack="wrong", void=True)
    assert combine(of([1.0]), void, of=min) == void
