"""Every verdict on a claim, from rows whose ratios are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fixture_run import PROOFS
from synthetic_rows import row

from restbench import claim_file, claims
from restbench.claim_file import Claims
from restbench.claims import Decision
from restbench.measurement import KindMeasurement
from restbench.measures import Row
from restbench.records import Proof

BASE = [100.0, 102.0, 98.0, 101.0, 99.0]
NOISE = [0.065, -0.065, 0.0325, -0.0325, 0.0]
MIRROR = {
    "greater": "less",
    "less": "greater",
    "same": "same",
    "not greater": "not less",
    "not less": "not greater",
}


def times(factor: float, spread: float = 0.004) -> list[float]:
    steps = (1, -1, 0.5, -0.5, 0)
    return [value * factor * (1 + spread * step) for value, step in zip(BASE, steps, strict=True)]


def claim(*parts: str) -> Claims:
    text = 'title = "t"\nmargin = 0.05\n[[claims]]\nid = "C"\ntext = "t"\nreading = "r"\n'
    text += "".join(f"[[claims.parts]]\n{part}\n" for part in parts)
    return claim_file.parse(text.encode(), "test")


def part(
    expect: str, numerator: str = "serial", denominator: str = "pinned", more: str = ""
) -> str:
    return (
        f'metric = "throughput_per_s"\nexpect = "{expect}"\n'
        'cells = { service = "java", complexity = "low", users = 10 }\n'
        f'numerator = {{ strategy = "{numerator}" }}\n'
        f'denominator = {{ strategy = "{denominator}" }}\n{more}'
    )


def rows(
    serial: Sequence[float], pinned: Sequence[float] = BASE, marks: Sequence[str] = ()
) -> list[Row]:
    return [
        row("java serial low 10", serial, marks),
        row("java pinned low 10", pinned),
    ]


def decided(file: Claims, measured: list[Row], proofs: Sequence[Proof] = ()) -> Decision:
    (decision,) = claims.decide(file, measured, proofs)
    return decision


@pytest.mark.parametrize(
    ("expect", "factor", "spread", "verdict"),
    [
        ("greater", 1.2, 0.004, "reproduced"),
        ("greater", 1.03, 0.004, "not detected"),
        ("greater", 1.2, 0.3, "not detected"),
        ("greater", 0.8, 0.004, "contradicted"),
        ("less", 0.8, 0.004, "reproduced"),
        ("less", 1.2, 0.004, "contradicted"),
        ("same", 1.01, 0.004, "reproduced"),
        ("same", 1.01, 0.3, "not detected"),
        ("same", 1.2, 0.004, "contradicted"),
        ("same", 0.8, 0.004, "contradicted"),
        ("not greater", 0.8, 0.004, "reproduced"),
        ("not greater", 1.01, 0.004, "reproduced"),
        ("not greater", 1.01, 0.3, "not detected"),
        ("not greater", 1.2, 0.004, "contradicted"),
        ("not less", 1.2, 0.004, "reproduced"),
        ("not less", 0.8, 0.004, "contradicted"),
    ],
)
def test_the_verdict_is_the_datas_and_swapping_the_sides_mirrors_it(
    expect: str, factor: float, spread: float, verdict: str
) -> None:
    measured = rows(times(factor, spread))
    assert decided(claim(part(expect)), measured).verdict == verdict
    swapped = claim(part(MIRROR[expect], "pinned", "serial"))
    assert decided(swapped, measured).verdict == verdict


def test_another_size_than_the_studys_is_said() -> None:
    found = decided(claim(part("greater", more="study_value = 2.17")), rows(times(1.5)))
    assert found.verdict == "same direction, other size"
    assert found.study_values == (2.17,)
    assert "where the study has 2.17" in found.why
    near = decided(claim(part("greater", more="study_value = 1.501")), rows(times(1.5)))
    assert near.verdict == "reproduced"


def test_a_reproduced_claim_tells_its_ratio_with_interval_and_its_cells() -> None:
    found = decided(claim(part("greater")), rows(times(1.5)))
    assert found.why.startswith("Throughput S low 10u / AF low 10u = 1.50 [1.49, 1.51]")
    assert found.cells == ("java-serial-unbound-low-10u", "java-pinned-unbound-low-10u")
    (only,) = found.parts
    assert only.comparison.ratio is not None
    assert only.comparison.blocks == 5


def test_not_detected_says_what_it_could_have_seen() -> None:
    found = decided(claim(part("greater")), rows(times(1.02)))
    assert found.headline == "not detected (could have seen ≥ 5.0 %)"
    wide = decided(claim(part("greater")), rows(times(1.1, 0.3)))
    seen = wide.parts[0].comparison.could_have_seen
    assert seen is not None
    assert f"≥ {100 * (seen - 1):.1f} %" in wide.headline
    assert "could have seen" in wide.why


def test_one_block_is_one_run_however_large_the_difference() -> None:
    for factor, held in ((9.0, 1), (0.1, 0)):
        found = decided(claim(part("greater")), rows([factor], [1.0]))
        assert found.verdict == "one run"
        assert found.headline == f"one run: as claimed in {held} of 1 parts"
    assert "not as the claim says" in found.why


def test_one_run_leans_by_the_margin() -> None:
    headlines = {
        expect: decided(claim(part(expect)), rows([1.02], [1.0])).headline[-12:]
        for expect in MIRROR
    }
    assert headlines == {
        "greater": "0 of 1 parts",
        "less": "0 of 1 parts",
        "same": "1 of 1 parts",
        "not greater": "1 of 1 parts",
        "not less": "1 of 1 parts",
    }


def test_a_cell_that_is_missing_is_named_and_hides_no_other_part() -> None:
    file = claim(part("greater"), part("greater", denominator="thread-pool"))
    found = decided(file, rows(times(1.5)))
    assert found.verdict == "not measured"
    assert found.headline == "not measured (part: S low 10u / M low 10u)"
    assert "java-thread-pool-unbound-low-10u is not in this run" in found.why
    assert [each.verdict for each in found.parts] == ["reproduced", "not measured"]
    assert "1 of 2 parts are as claimed" in found.why


def test_a_planned_cell_without_a_block_is_not_measured() -> None:
    found = decided(claim(part("greater")), rows(times(1.5), []))
    assert found.headline == "not measured"
    assert "java-pinned-unbound-low-10u has no throughput_per_s" in found.why


def test_a_wrong_answer_leaves_nothing_to_judge() -> None:
    found = decided(claim(part("greater")), rows(times(1.5), marks=["wrong-answers"]))
    assert found.verdict == "not measured"
    assert "java-serial-unbound-low-10u gave a wrong answer" in found.why


def test_one_real_difference_the_other_way_contradicts_the_whole() -> None:
    file = claim(
        part("greater"),
        part("greater", "pinned", "serial"),
        part("greater", denominator="thread-pool"),
    )
    found = decided(file, rows(times(1.5)))
    assert found.verdict == "contradicted"
    assert "1 of 3 parts are as claimed" in found.why
    assert "AF low 10u / S low 10u" in found.why


def test_a_part_that_only_stands_beside_decides_nothing() -> None:
    beside = part("greater", "pinned", "serial", more="decides = false")
    found = decided(claim(part("greater"), beside), rows(times(1.5)))
    assert found.verdict == "reproduced"
    assert [each.verdict for each in found.beside] == ["contradicted"]


def test_doubtful_cells_are_named_and_still_counted() -> None:
    found = decided(claim(part("greater")), rows(times(1.5), marks=["steal", "shared-cores"]))
    assert found.verdict == "reproduced"
    assert found.marked == ("java-serial-unbound-low-10u: steal",)


def test_a_strategy_that_does_not_do_its_name_marks_its_cells() -> None:
    found = decided(claim(part("greater")), rows(times(1.5)), PROOFS)
    assert found.marked == ("java-pinned-unbound-low-10u: its proof says DOES NOT",)


def test_holm_counts_the_parts_of_a_claim() -> None:
    shaky = rows(times(1.2, 0.15))
    assert decided(claim(part("greater")), shaky).verdict == "reproduced"
    noise = row("java thread-pool low 10", times(1.0, 0.2))
    several = [part("greater"), *[part("not greater", "thread-pool")] * 9]
    found = decided(claim(*several), [*shaky, noise])
    assert found.parts[0].verdict == "not detected"
    beside = [f"{each}decides = false\n" for each in several[1:]]
    alone = decided(claim(several[0], *beside), [*shaky, noise])
    assert alone.parts[0].verdict == "reproduced", "what only stands beside makes none stricter"


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
    assert found.parts[0].label == ("(S medium 10u / AF medium 10u) / (S low 10u / AF low 10u)")
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
    assert gained.verdict == "not measured"
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
    assert found.parts[0].label.startswith("AF low 10u (best of S, AF) /")
    assert found.verdict == "reproduced"
    assert decided(file, [*rows([]), pool]).verdict == "not measured"


def test_latency_is_compared_as_latency() -> None:
    file = claim(part("greater").replace("throughput_per_s", "mean_ms"))
    measured = [
        row("java serial low 10", BASE, mean_ms=times(3.0)),
        row("java pinned low 10", times(3.0), mean_ms=BASE),
    ]
    assert decided(file, measured).verdict == "reproduced"


def proof(does: bool | None) -> list[Proof]:
    first = PROOFS[0]
    return [first.model_copy(update={"strategy": name, "does": does}) for name in ("serial",)]


@pytest.mark.parametrize(
    ("proofs", "verdict", "why"),
    [
        (proof(True), "reproduced", "The proofs of 1 strategies say DOES"),
        (proof(False), "contradicted", "Proofs say DOES NOT: java serial"),
        (proof(None), "not measured", "No proof of java serial"),
        ([], "not measured", "No proof of java serial"),
    ],
)
def test_a_claim_on_structure_is_decided_by_proofs(
    proofs: list[Proof], verdict: str, why: str
) -> None:
    text = 'title = "t"\nmargin = 0.05\n[[claims]]\nid = "F"\ntext = "t"\nreading = "r"\n'
    file = claim_file.parse((text + 'proofs = { java = ["serial"] }').encode(), "test")
    found = decided(file, [], proofs)
    assert found.verdict == verdict
    assert found.why.startswith(why)


def test_the_study_can_be_judged_by_any_run_without_a_fault() -> None:
    path = Path(__file__).parents[1] / "experiments" / "claims" / "thesis.toml"
    file = claim_file.load(path)
    found = {each.id: each for each in claims.decide(file, rows(times(1.5)), PROOFS)}
    assert {each.verdict for each in found.values()} == {"not measured", "contradicted"}
    assert found["F1"].why == (
        "It is decided by the experiment adaptive, not by this one: make bench EXPERIMENT=adaptive."
    )
    assert found["F2"].verdict == "contradicted"
    assert "S low 10u / AF low 10u" not in found["J3"].headline


def test_the_best_of_several_leaves_out_what_the_runtime_does_not_have() -> None:
    best = (
        'metric = "throughput_per_s"\nexpect = "not less"\n'
        'cells = { service = "java", complexity = "low", users = 10 }\n'
        'numerator = { strategy = "serial" }\n'
        'denominator_best = { strategy = ["pinned", "virtual-threads"] }\n'
    )
    absent = row("java virtual-threads low 10", (), ())
    found = decided(claim(best), [*rows(times(1.2)), absent])
    assert found.verdict == "not measured"
    found = decided(claim(best), [*rows(times(1.2)), _not_offered("virtual-threads")])
    assert found.verdict == "reproduced"
    assert "best of AF" in found.why


def _not_offered(strategy: str) -> Row:
    failed = row(f"java {strategy} low 10", [None], ["not-offered", "failed"])
    (only,) = failed.measurements
    return replace(failed, measurements=(replace(only, window=None),))


def test_a_kind_of_a_mix_is_compared_with_its_level_alone() -> None:
    one = (
        'metric = "p95_ms"\nkind = "low"\nexpect = "not greater"\nmargin = 1.0\n'
        'cells = { service = "java", strategy = "serial", users = 10 }\n'
        'numerator = { complexity = "mix" }\ndenominator = { complexity = "low" }\n'
    )
    alone = row("java serial low 10", BASE, p95_ms=BASE)
    for factor, verdict in ((1.9, "reproduced"), (2.2, "contradicted")):
        found = decided(claim(one), [alone, _mixed(times(factor))])
        assert found.verdict == verdict
        assert "p95 S low in mix 10u / S low 10u" in found.why.replace("P95", "p95")


def _mixed(p95_ms: Sequence[float]) -> Row:
    """A mix with this p95 of its low requests, by block; that of all requests is another."""
    mixed = row("java serial mix 10", BASE, p95_ms=times(50))
    low = KindMeasurement(samples=1_000, throughput_per_s=9.0, mean_ms=1.0, p50_ms=1.0, p95_ms=None)
    blocks = [
        replace(each, kinds={"low": replace(low, p95_ms=value)})
        for each, value in zip(mixed.measurements, p95_ms, strict=True)
    ]
    return replace(mixed, shape=None, measurements=tuple(blocks))


def test_a_studys_size_is_only_held_against_a_claim_of_a_difference() -> None:
    """Beside `not greater` a value may even lie the other way: it is shown, and decides nothing."""
    beside = claim(part("not greater", more="study_value = 0.54"))
    assert decided(beside, rows(times(1.02))).verdict == "reproduced"
    within_margin = claim(part("greater", more="study_value = 1.56"))
    assert decided(within_margin, rows(times(1.5))).verdict == "reproduced"


@pytest.mark.parametrize(
    ("expect", "factor", "verdict"),
    [
        ("same", 1.01, "not detected"),
        ("same", 1.5, "contradicted"),
        ("not greater", 0.8, "not detected"),
        ("not greater", 1.5, "contradicted"),
        ("greater", 1.5, "reproduced"),
        ("less", 1.5, "contradicted"),
    ],
)
def test_a_generator_at_its_end_shows_no_likeness_but_a_difference_stands(
    expect: str, factor: float, verdict: str
) -> None:
    measured = rows(times(factor), marks=("generator-bound",))
    found = decided(claim(part(expect)), measured)
    assert found.verdict == verdict
    assert ("the load generator was the limit" in found.why) == (verdict == "not detected")


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_numbers_of_users_are_not_compared_where_the_generator_was_the_limit(factor: float) -> None:
    across = claim(
        'metric = "throughput_per_s"\nexpect = "greater"\n'
        'cells = { service = "java", strategy = "serial", complexity = "low" }\n'
        "steps = { users = [10, 30] }\n"
    )
    few, many = row("java serial low 10", BASE), row("java serial low 30", times(factor))
    bound = row("java serial low 30", times(factor), ("generator-bound",))
    assert decided(across, [few, bound]).verdict == "not detected"
    expected = {0.5: "contradicted", 1.0: "not detected", 2.0: "reproduced"}
    assert decided(across, [few, many]).verdict == expected[factor]


def test_a_ratio_that_two_parts_look_at_is_one_comparison() -> None:
    """p = 0.03 stands alone at 5 %; counted twice, Holm would ask for 2.5 %."""
    noisy = [0.93 * base * (1 + step) for base, step in zip(BASE, NOISE, strict=True)]
    once = decided(claim(part("less", more="margin = 0.01")), rows(noisy))
    twice = decided(
        claim(part("less", more="margin = 0.01"), part("not less", more="margin = 0.25")),
        rows(noisy),
    )
    p_value = once.parts[0].comparison.p_value
    assert p_value is not None
    assert 0.025 < p_value < 0.05
    assert once.verdict == "reproduced"
    assert [each.verdict for each in twice.parts] == ["reproduced", "reproduced"]
