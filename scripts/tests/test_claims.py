"""Every verdict on a claim, from rows whose ratios are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixture_run import PROOFS
from stated_claims import claim, decided, part, rows, times
from synthetic_rows import row

from restbench.experiment import claim_file
from restbench.experiment.records import Proof
from restbench.judge import claims

MIRROR = {
    "greater": "less",
    "less": "greater",
    "same": "same",
    "not greater": "not less",
    "not less": "not greater",
}


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


def test_a_studys_size_is_only_held_against_a_claim_of_a_difference() -> None:
    """Beside `not greater` a value may even lie the other way: it is shown, and decides nothing."""
    beside = claim(part("not greater", more="study_value = 0.54"))
    assert decided(beside, rows(times(1.02))).verdict == "reproduced"
    within_margin = claim(part("greater", more="study_value = 1.56"))
    assert decided(within_margin, rows(times(1.5))).verdict == "reproduced"
