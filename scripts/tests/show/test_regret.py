"""What choosing costs, of claims whose ratios are known: regret, the sentence, the chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from drawn import data_of
from stated_claims import BASE, times
from synthetic_rows import row, with_kinds

from restbench.analyse.measures import Row
from restbench.experiment import claim_file, toml_file
from restbench.experiment.cell import Kind, Shape
from restbench.judge import claims
from restbench.show import export
from restbench.show.charts import theme
from restbench.show.kinds import study
from restbench.store.quoted import ClaimEntry, PartEntry


def stated(name: str, *parts: str) -> str:
    head = f'[[claims]]\nid = "{name}"\ntext = "t"\nreading = "r"\n'
    return head + "".join(f"[[claims.parts]]\n{part}" for part in parts)


def to_the_best(metric: str, expect: str, complexity: str = "low") -> str:
    return (
        f'metric = "{metric}"\nexpect = "{expect}"\n'
        f'cells = {{ service = "java", complexity = "{complexity}", users = 10 }}\n'
        'numerator = { strategy = "adaptive" }\n'
        'denominator_best = { strategy = ["serial", "pinned"] }\n'
    )


def to_low_alone(strategy: str) -> str:
    """Of small requests in a mix with large ones."""
    return (
        'metric = "p95_ms"\nkind = "low"\nexpect = "not greater"\nmargin = 1.0\n'
        f'cells = {{ service = "java", strategy = "{strategy}", users = 10 }}\n'
        'numerator = { complexity = "mix" }\ndenominator = { complexity = "low" }\n'
    )


BESIDE = "decides = false\n"
CLAIMS = 'title = "t"\nmargin = 0.0309\n' + "".join(
    [
        stated(
            "F1",
            to_the_best("throughput_per_s", "not less"),
            to_the_best("throughput_per_s", "not less", "medium") + BESIDE,
        ),
        stated("F1-p95", to_the_best("p95_ms", "not greater")),
        stated("F1-stuck", to_low_alone("adaptive"), to_low_alone("serial") + BESIDE),
    ]
)
MIX = (
    Kind(name="low", share=0.5, shape=Shape(rows=30, inner=20, columns=20)),
    Kind(name="huge", share=0.5, shape=Shape(rows=1000, inner=1000, columns=1000)),
)


def chosen(factor: float, spread: float = 0.004, p95: Sequence[float] = BASE) -> list[Row]:
    """Adaptive at a factor of the better of two fixed strategies."""
    return [
        row("java adaptive low 10", times(factor, spread), p95_ms=list(p95)),
        row("java serial low 10", BASE, p95_ms=times(2)),
        row("java pinned low 10", times(0.5), p95_ms=times(1)),
    ]


def entries(rows: list[Row]) -> list[ClaimEntry]:
    found = claims.decide(toml_file.parse(CLAIMS.encode(), claim_file.Claims, "test"), rows, ())
    return [export.claim(each) for each in found]


def of(rows: list[Row], claim: str = "F1") -> PartEntry:
    (found,) = (each for each in entries(rows) if each.id == claim)
    return found.parts[0]


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
def test_regret_is_to_the_best_and_its_verdict_by_the_whole_interval(
    factor: float, spread: float, verdict: str
) -> None:
    found = of(chosen(factor, spread))
    assert found.verdict == verdict
    assert study.regret(found) == pytest.approx(1 - factor, abs=0.05 if spread > 0.1 else 0.002)
    assert "/ java serial low 10u (best of" in found.label, "not the nearest"


def test_the_best_by_p95_may_be_another_and_a_longer_p95_is_a_regret() -> None:
    found = of(chosen(1, p95=times(1.25)), "F1-p95")
    assert "/ pinned low 10u (best of" in found.label
    assert study.regret(found) == pytest.approx(0.2, abs=0.005)
    assert found.verdict == "contradicted"


def test_there_is_no_regret_where_a_fixed_strategy_has_no_number() -> None:
    """It might be the best."""
    found = of([*chosen(1.0)[:2], row("java pinned low 10")])
    assert (study.regret(found), found.verdict) == (None, "not-measured")
    assert study.sentence(entries(chosen(1.0)[1:])) == ""


@pytest.mark.parametrize(
    ("factor", "spread", "says"),
    [
        (1.2, 0.004, "is reproduced; the largest regret of 1 cells is -20.0 % (java adaptive low"),
        (0.9, 0.004, "is contradicted; the largest regret of 1 cells is 10.0 %"),
        (0.9, 0.3, "is too imprecise (± "),
    ],
)
def test_the_sentence_is_the_claims_verdict_with_the_largest_regret(
    factor: float, spread: float, says: str
) -> None:
    found = entries(chosen(factor, spread))
    assert says in study.sentence(found)
    assert "java adaptive low 10u / java serial low 10u (best of" in study.sure(found)


def test_small_requests_are_held_against_themselves_alone() -> None:
    """Which is a ratio to no best, and so no regret."""
    rows = []
    for name in ("adaptive", "serial"):
        mix = row(f"java {name} mix 10", times(1.5), p95_ms=times(7))
        rows.append(replace(with_kinds(mix, low=times(0.03, 0.01), huge=times(9)), mix=MIX))
        rows.append(row(f"java {name} low 10", times(40), p95_ms=times(0.02)))
    found = of(rows, "F1-stuck")
    assert found.ratio == pytest.approx(1.5, rel=0.02)
    assert study.regret(found) is None
    chart = study.chart_of(entries(rows)[-1])
    assert chart is not None
    (point,) = data_of(chart)
    assert point["name"].startswith("java adaptive low in mix 10u"), "and not the fixed strategy"


def test_a_point_of_the_figure_is_a_cells_ratio() -> None:
    chart = study.chart_of(entries(chosen(0.9))[0])
    assert chart is not None
    assert chart.name == "F1-ratios"
    (point,) = data_of(chart)
    assert point["value"] == pytest.approx(0.9, abs=0.002)
    assert point["low"] < 0.9 < point["high"]
    assert (point["least"], point["most"]) == pytest.approx((0.97, 1 / 0.97), rel=1e-4)
    assert point["label"] == "low 10u"
    assert point["name"] == "java adaptive low 10u / java serial low 10u"


@pytest.mark.parametrize(("factor", "kind"), [(0.9, None), (30, "log")])
def test_a_ratio_of_many_times_the_others_does_not_press_them_to_the_axis(
    factor: float, kind: str | None
) -> None:
    rows = [
        *chosen(0.9),
        row("java adaptive medium 10", times(factor)),
        row("java serial medium 10", BASE),
        row("java pinned medium 10", times(0.5)),
    ]
    chart = study.chart_of(entries(rows)[0])
    assert chart is not None
    (panel,) = theme.spec(chart)["concat"]
    (x,) = {
        each["encoding"]["x"]["scale"].get("type")
        for each in panel["layer"]
        if "scale" in each["encoding"].get("x", {})
    }
    assert x == kind
