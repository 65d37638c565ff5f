"""Regret and what a mix does to each strategy, from rows whose ratios are known."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace

import pytest
from drawn import data_of
from stated_claims import BASE, times
from synthetic_rows import row, with_facts, with_kinds

from restbench.analyse.measures import Row
from restbench.experiment.cell import Kind, Shape
from restbench.judge import regret
from restbench.judge.regret import Share
from restbench.show import files
from restbench.show.charts import theme
from restbench.show.kinds import study as shown

MIX = (
    Kind(name="low", share=0.95, shape=Shape(rows=30, inner=20, columns=20)),
    Kind(name="huge", share=0.05, shape=Shape(rows=1000, inner=1000, columns=1000)),
)


def chosen(factor: float, spread: float = 0.004, p95: Sequence[float] = BASE) -> list[Row]:
    """Adaptive at a factor of the better of two fixed strategies."""
    return [
        row("java adaptive low 10", times(factor, spread), p95_ms=list(p95)),
        row("java serial low 10", BASE, p95_ms=times(2)),
        row("java pinned low 10", times(0.5), p95_ms=times(1)),
    ]


def of(rows: list[Row], metric: str = "throughput_per_s") -> Share:
    (found,) = (each for each in regret.choosing(rows).regrets if each.metric == metric)
    return found


@pytest.mark.parametrize(
    ("factor", "spread", "verdict"),
    [
        (1.2, 0.004, "reproduced"),
        (0.99, 0.004, "reproduced"),
        (0.9, 0.004, "contradicted"),
        (0.97, 0.004, "too-imprecise"),
        (1.0, 0.3, "too-imprecise"),
    ],
)
def test_the_verdict_is_by_the_whole_interval(factor: float, spread: float, verdict: str) -> None:
    found = of(chosen(factor, spread))
    assert found.verdict == verdict
    assert found.regret == pytest.approx(1 - factor, abs=0.05 if spread > 0.1 else 0.002)
    assert found.other is not None
    assert found.other.strategy == "serial", "the best fixed one, not the nearest"


@pytest.mark.parametrize(
    ("factor", "spread", "ends"),
    [
        (1.2, 0.004, "1 of 1 cells and to fall short in none."),
        (0.9, 0.004, "0 of 1 cells and to fall short in 1 (most: 10.0 %, low, 10 users)."),
        (0.9, 0.3, "0 of 1 cells and to fall short in none (largest estimate: "),
    ],
)
def test_the_sentence_counts_what_is_shown_and_no_estimate(
    factor: float, spread: float, ends: str
) -> None:
    assert ends in shown.sentence(chosen(factor, spread))


def test_the_best_by_p95_may_be_another_and_a_shorter_p95_is_a_larger_share() -> None:
    found = of(chosen(1, p95=times(1.25)), "p95_ms")
    assert found.other is not None
    assert found.other.strategy == "pinned"
    assert found.regret == pytest.approx(0.2, abs=0.005)
    assert found.verdict == "contradicted"


def test_one_block_says_so_and_has_no_interval() -> None:
    rows = [row("java adaptive low 10", [96.0]), row("java serial low 10", [100.0])]
    found = of(rows)
    assert found.verdict == "too-imprecise"
    assert shown.verdict(found) == "too imprecise (one block, so no interval)"


def test_a_fixed_strategy_without_a_number_is_named_and_one_not_offered_is_not() -> None:
    refused = row("java virtual-threads low 10", [None], ["not-offered", "failed"])
    absent = with_facts(refused, seconds=None)
    found = of([*chosen(1.0), row("java pipeline low 10"), absent])
    assert found.unknown == ("pipeline",)
    assert "without pipeline" in shown.verdict(found)


def test_a_group_that_nothing_chooses_in_has_no_regret() -> None:
    assert regret.choosing(chosen(1.0)[:1]).regrets == ()
    assert regret.choosing(chosen(1.0)[1:]).summary() == []


def test_another_number_of_users_or_kernel_is_another_cell() -> None:
    rows = [*chosen(1.0), row("java serial low 30", times(9))]
    found = of(rows)
    assert found.regret == pytest.approx(0, abs=0.002)


def mixed(strategy: str, factor: float, low_ms: float, huge_ms: float) -> Row:
    """A mix of 100/s times the factor, with the p95 of its kinds."""
    found = row(f"java {strategy} mix 10", times(factor), p95_ms=times(7))
    turns = (1.0, 1.01, 0.99, 1.02, 0.98)
    low, huge = ([p95_ms * turn for turn in turns] for p95_ms in (low_ms, huge_ms))
    return replace(with_kinds(found, low=low, huge=huge), mix=MIX)


MIXED = [
    mixed("adaptive", 1.5, low_ms=3.0, huge_ms=900.0),
    mixed("serial", 1.0, low_ms=30.0, huge_ms=800.0),
    mixed("pinned", 0.5, low_ms=2.0, huge_ms=2000.0),
    row("java adaptive low 10", times(40), p95_ms=[2.0, 2.02, 1.98, 2.04, 1.96]),
]


def test_a_mix_is_judged_by_the_p95_of_each_kind_and_by_no_common_one() -> None:
    found = {(each.metric, each.part): each for each in regret.choosing(MIXED).regrets}
    assert set(found) == {("throughput_per_s", ""), ("p95_ms", "low"), ("p95_ms", "huge")}
    shares = {part: each.comparison.estimate for (_, part), each in found.items()}
    assert shares == pytest.approx({"": 1.5, "low": 2 / 3, "huge": 8 / 9}, rel=0.01)
    others = {part: each.other and each.other.strategy for (_, part), each in found.items()}
    assert others == {"": "serial", "low": "pinned", "huge": "serial"}


def test_on_the_mix_choosing_stands_against_every_fixed_strategy() -> None:
    duels = [each for each in regret.choosing(MIXED).duels if each.metric == "throughput_per_s"]
    found = {each.other and each.other.strategy: each.verdict for each in duels}
    assert found == {"serial": "reproduced", "pinned": "reproduced"}
    told = " ".join(regret.choosing(MIXED).summary())
    assert "Java, mix with 10 users: throughput above 2 of 2 fixed strategies" in told


def test_better_is_what_is_better_by_more_than_the_tolerance() -> None:
    rows = [mixed("adaptive", 1.02, 3.0, 900.0), *MIXED[1:]]
    duels = [each for each in regret.choosing(rows).duels if each.metric == "throughput_per_s"]
    assert [each.verdict for each in duels] == ["smaller-than-margin", "reproduced"]
    assert "throughput above 1 of 2 fixed strategies by more than 3 %" in " ".join(
        regret.choosing(rows).summary()
    )


@pytest.mark.parametrize(
    ("low_ms", "verdict"), [(3.0, "reproduced"), (5.0, "contradicted"), (4.0, "too imprecise")]
)
def test_small_requests_are_held_against_themselves_alone(low_ms: float, verdict: str) -> None:
    rows = [mixed("adaptive", 1.5, low_ms, 900.0), *MIXED[1:]]
    (slow,) = regret.choosing(rows).slowdowns
    assert (slow.part, slow.other and slow.other.complexity) == ("low", "low")
    assert slow.comparison.estimate == pytest.approx(low_ms / 2, rel=0.001)
    noisy = {"too imprecise": [2.1, 1.9, 2.0, 2.2, 1.8]}.get(verdict)
    rows = [*rows[:-1], row("java adaptive low 10", times(40), p95_ms=noisy)] if noisy else rows
    assert f", at most 2: {verdict}" in regret.choosing(rows).summary()[-1]


def test_the_csv_has_every_comparison_and_says_which_is_with_the_best() -> None:
    found = regret.choosing(MIXED)
    lines = list(csv.DictReader(files.as_csv(shown.records(found)).splitlines()))
    assert " ".join(lines[0]) == (
        "service complexity kind users metric against best_fixed share share_low share_high regret "
        "verdict blocks warnings"
    )
    best = [line for line in lines if line["best_fixed"] == "yes"]
    assert len(best) == 3
    assert len(lines) == 3 + 2 * 3
    assert (best[0]["against"], float(best[0]["share"])) == ("serial", pytest.approx(1.5, rel=0.01))


def test_a_point_of_the_figure_is_a_cells_share() -> None:
    throughput, *_ = shown.charts_of(regret.choosing(chosen(0.9)).regrets)
    assert throughput.name == "regret-throughput"
    (point,) = data_of(throughput)
    assert point["value"] == pytest.approx(0.9, abs=0.002)
    assert point["low"] < 0.9 < point["high"]
    assert (point["least"], point["most"]) == (0.97, pytest.approx(1 / 0.97, rel=1e-5))
    assert point["cell"] == "java-adaptive-unbound-low-10u"
    assert point["label"] == "low, 10 users"


@pytest.mark.parametrize(("factor", "kind"), [(0.9, None), (30, "log")])
def test_a_share_of_many_times_the_others_does_not_press_them_to_the_axis(
    factor: float, kind: str | None
) -> None:
    rows = [
        *chosen(0.9),
        row("java adaptive medium 10", times(factor)),
        row("java serial medium 10", BASE),
    ]
    chart, *_ = shown.charts_of(regret.choosing(rows).regrets)
    (panel,) = theme.spec(chart)["concat"]
    (x,) = {
        each["encoding"]["x"]["scale"].get("type")
        for each in panel["layer"]
        if "scale" in each["encoding"].get("x", {})
    }
    assert x == kind
