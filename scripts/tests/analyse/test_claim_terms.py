"""What a claim may compare: ratios, gaps, losses, the best of several, kinds, numbers of users."""

from __future__ import annotations

from typing import get_args

import pytest
from stated_claims import BASE, claim, decided, part, rows, times
from synthetic_rows import row, with_facts, with_kinds

from restbench.experiment.claim_file import Metric
from restbench.judge.claims import WORDS


def test_every_metric_of_a_claim_has_words() -> None:
    assert set(get_args(Metric)) == set(WORDS)


def test_a_gap_that_closes_is_a_ratio_of_ratios() -> None:
    file = claim(
        'metric = "throughput_per_s"\nexpect = "less"\n'
        'cells = { service = "java", strategy = "serial", users = 10 }\n'
        'numerator = { complexity = "medium" }\ndenominator = { complexity = "low" }\n'
        'per = { strategy = "pinned" }'
    )
    measured = [
        *rows(times(2.0)),
        row("java serial medium 10", times(0.55)),
        row("java pinned medium 10", times(0.5, 0.006)),
    ]
    found = decided(file, measured)
    assert found.verdict == "reproduced"
    assert found.parts[0].comparison.estimate == pytest.approx(1.1 / 2, rel=0.01)
    assert found.parts[0].label == (
        "(java serial medium 10u / pinned medium 10u) / (java serial low 10u / pinned low 10u)"
    )
    assert len(found.cells) == 4


def test_a_loss_is_a_difference_in_requests_per_second() -> None:
    file = claim(part("less", more='minus = { complexity = "medium" }'))
    measured = [
        *rows(times(0.3), BASE),
        row("java serial medium 10", times(0.1)),
        row("java pinned medium 10", times(0.2)),
    ]
    found = decided(file, measured)
    assert found.parts[0].comparison.estimate == pytest.approx(0.2 / 0.8, rel=0.02)
    assert found.verdict == "reproduced"
    measured[2] = row("java serial medium 10", times(0.4))
    gained = decided(file, measured)
    assert gained.verdict == "not-measured"
    assert "not above 0" in gained.why


def test_the_best_of_several_needs_them_all() -> None:
    file = claim(
        'metric = "throughput_per_s"\nexpect = "greater"\n'
        'cells = { service = "java", complexity = "low", users = 10 }\n'
        'numerator_best = { strategy = ["serial", "pinned"] }\n'
        'denominator = { strategy = "thread-pool" }'
    )
    pool = row("java thread-pool low 10", times(0.5))
    found = decided(file, [*rows(times(0.8)), pool])
    assert found.parts[0].label.startswith("pinned low 10u (best of java serial, pinned) /")
    assert found.verdict == "reproduced"
    assert decided(file, [*rows([]), pool]).verdict == "not-measured"
    better_hour = decided(file, [*rows([*times(0.8)[:3], 300, 310], times(1.0)[:3]), pool])
    assert better_hour.parts[0].label.startswith("pinned low"), "by the blocks that both have"


def test_candidates_of_one_technique_are_named_by_what_differs() -> None:
    file = claim(
        'metric = "throughput_per_s"\nexpect = "not less"\n'
        'cells = { service = "java", strategy = "serial", users = 10 }\n'
        'numerator = { complexity = "high" }\n'
        'denominator_best = { complexity = ["low", "medium"] }\n'
    )
    levels = ("high", "low", "medium")
    found = decided(file, [row(f"java serial {level} 10", BASE) for level in levels])
    assert "(best of java serial low 10u, java serial medium 10u)" in found.parts[0].label


def test_a_ratio_of_two_metrics_names_both_cells_where_they_differ() -> None:
    both = (
        'metric = "mean_ms"\nover = "p95_ms"\nexpect = "greater"\n'
        'cells = { service = "java", strategy = "serial", users = 10 }\n'
        'numerator = { complexity = "high" }\ndenominator = { complexity = "LEVEL" }\n'
    )
    measured = [row(f"java serial {level} 10", BASE) for level in ("low", "high")]
    labels = [
        decided(claim(both.replace("LEVEL", level)), measured).parts[0].label
        for level in ("low", "high")
    ]
    assert labels == [
        "java serial high 10u mean ms / java serial low 10u p95 ms",
        "java serial high 10u mean ms / p95 ms",
    ]


def test_the_best_of_several_leaves_out_what_the_runtime_does_not_have() -> None:
    best = (
        'metric = "throughput_per_s"\nexpect = "not less"\n'
        'cells = { service = "java", complexity = "low", users = 10 }\n'
        'numerator = { strategy = "serial" }\n'
        'denominator_best = { strategy = ["pinned", "virtual-threads"] }\n'
    )
    absent = row("java virtual-threads low 10", (), ())
    found = decided(claim(best), [*rows(times(1.2)), absent])
    assert found.verdict == "not-measured"
    refused = row("java virtual-threads low 10", [None], ["not-offered", "failed"])
    found = decided(claim(best), [*rows(times(1.2)), with_facts(refused, seconds=None)])
    assert found.verdict == "reproduced"
    assert "best of pinned" in found.why
    only = best.replace('"pinned", ', '"virtual-thread-per-request", ')
    other = row("java virtual-thread-per-request low 10", [None], ["not-offered", "failed"])
    found = decided(claim(only), [*rows(times(1.2)), refused, other])
    assert (found.verdict, found.why) == (
        "not-measured",
        "Not measured: the runtime offers none of the candidates.",
    )


def test_latency_is_compared_as_latency() -> None:
    file = claim(part("greater").replace("throughput_per_s", "mean_ms"))
    measured = [
        row("java serial low 10", BASE, mean_ms=times(3.0)),
        row("java pinned low 10", times(3.0), mean_ms=BASE),
    ]
    assert decided(file, measured).verdict == "reproduced"


def test_a_kind_of_a_mix_is_compared_with_its_level_alone() -> None:
    one = (
        'metric = "p95_ms"\nkind = "low"\nexpect = "not greater"\nmargin = 1.0\n'
        'cells = { service = "java", strategy = "serial", users = 10 }\n'
        'numerator = { complexity = "mix" }\ndenominator = { complexity = "low" }\n'
    )
    alone = row("java serial low 10", BASE, p95_ms=BASE)
    mix = row("java serial mix 10", BASE, p95_ms=times(50))
    for factor, verdict in ((1.9, "reproduced"), (2.2, "contradicted")):
        found = decided(claim(one), [alone, with_kinds(mix, low=times(factor))])
        assert found.verdict == verdict
        assert "p95 java serial low in mix 10u / java serial low 10u" in found.why.replace(
            "P95", "p95"
        )
