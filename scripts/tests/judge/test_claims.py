"""Every verdict on a claim, from rows whose ratios are known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fixture_run import PROOFS
from stated_claims import BASE, claim, decided, part, rows, times
from synthetic_rows import row, with_facts

from restbench.analyse.measures import Row
from restbench.experiment import claim_file, toml_file
from restbench.experiment.claim_file import Claims
from restbench.experiment.records import Proof
from restbench.judge import claims
from restbench.judge.questions import side
from restbench.judge.verdicts import more_times
from restbench.store import store

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
        ("greater", 1.03, 0.004, "smaller-than-margin"),
        ("greater", 1.0, 0.02, "no-effect"),
        ("less", 1.2, 0.004, "contradicted"),
        ("same", 0.8, 0.004, "contradicted"),
        ("not greater", 1.01, 0.3, "too-imprecise"),
        ("not less", 1.2, 0.004, "reproduced"),
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
    assert found.verdict == "reproduced"
    assert {part.study_value for part in found.parts} == {2.17}
    assert "where the study has 2.17" in found.why
    near = decided(claim(part("greater", more="study_value = 1.501")), rows(times(1.5)))
    assert near.verdict == "reproduced"
    assert "the study" not in near.why


def test_a_reproduced_claim_tells_its_ratio_with_interval_and_its_cells() -> None:
    found = decided(claim(part("greater")), rows(times(1.5)))
    assert found.why.startswith(
        "Throughput java serial low 10u / pinned low 10u = 1.50 [1.49, 1.51]"
    )
    assert found.cells == ("java-serial-unbound-low-10u", "java-pinned-unbound-low-10u")
    (only,) = found.parts
    assert only.comparison.ratio is not None
    assert only.comparison.blocks == 5


def test_a_cell_that_is_missing_is_named_and_hides_no_other_part() -> None:
    file = claim(part("greater"), part("greater", denominator="thread-pool"))
    found = decided(file, rows(times(1.5)))
    assert found.verdict == "not-measured"
    assert found.headline == "not measured (part: java serial low 10u / thread-pool low 10u)"
    assert "java-thread-pool-unbound-low-10u is not in this run" in found.why
    assert [each.verdict for each in found.parts] == ["reproduced", "not-measured"]
    assert "1 of 2 parts hold" in found.why


def test_a_planned_cell_without_a_block_is_not_measured() -> None:
    found = decided(claim(part("greater")), rows(times(1.5), []))
    assert found.headline == "not measured"
    assert "java-pinned-unbound-low-10u has no throughput_per_s" in found.why


def test_a_wrong_answer_leaves_nothing_to_judge() -> None:
    found = decided(claim(part("greater")), rows(times(1.5), marks=["wrong-answers"]))
    assert found.verdict == "not-measured"
    assert "java-serial-unbound-low-10u gave a wrong answer" in found.why


def test_one_real_difference_the_other_way_contradicts_the_whole() -> None:
    file = claim(
        part("greater"),
        part("greater", "pinned", "serial"),
        part("greater", denominator="thread-pool"),
    )
    found = decided(file, rows(times(1.5)))
    assert found.verdict == "contradicted"
    assert "1 of 3 parts hold" in found.why
    assert "pinned low 10u / java serial low 10u" in found.why


def test_a_part_that_only_stands_beside_decides_nothing() -> None:
    beside = part("greater", "pinned", "serial", more="decides = false")
    found = decided(claim(part("greater"), beside), rows(times(1.5)))
    assert found.verdict == "reproduced"
    assert [each.verdict for each in found.context] == ["contradicted"]


def test_an_undecided_claim_names_the_width_and_minutes_of_what_is_undecided() -> None:
    """Not the widest of all parts: J2's "falls" and "to no less than 0.8"."""
    file = claim(part("less"), part("not less", more="margin = 0.25"))
    (found,) = claims.decide(file, rows(times(0.93, 0.08)), (), 12.0 / 5)
    undecided, held = found.parts
    assert (undecided.verdict, held.verdict) == ("too-imprecise", "reproduced")
    width = undecided.comparison.half_width_pct
    times_more = more_times(undecided.comparison, "less")
    assert width is not None and times_more is not None
    minutes = 12 * (times_more - 1)
    assert found.headline == f"too imprecise (± {width:.1f} %, {minutes:.0f} minutes more)"
    longer = [*rows(times(0.93, 0.08)), row("java thread-pool low 10", 2 * times(1.0))]
    (same,) = claims.decide(file, longer, (), 12.0 / 5)
    assert same.headline == found.headline, "the blocks of these cells count, which are five"
    unknown = decided(file, rows(times(0.93, 0.08)))
    assert unknown.headline == f"too imprecise (± {width:.1f} %)"


def test_a_claim_is_open_where_its_cells_were_measured_though_not_together() -> None:
    """On a slow machine five claims had all their cells, in different blocks, and no time more."""
    one, two = rows(times(1.5))
    later = [each.model_copy(update={"block": each.block + 100}) for each in two.measurements]
    apart = [one, replace(two, measurements=tuple(later))]
    found = decided(claim(part("greater")), apart)
    assert (found.verdict, found.is_open) == ("not-measured", True)
    assert not decided(claim(part("greater")), [one]).is_open
    assert not decided(claim(part("greater")), [one, two]).is_open
    lacking = claim(part("greater"), part("greater", denominator="thread-pool"))
    assert not decided(lacking, apart).is_open


def test_a_claim_on_the_margin_is_not_open_and_one_that_waits_for_its_next_look_is() -> None:
    """Rule 6: a half-width under 2 % is not narrowed further."""
    on_it = decided(claim(part("not greater")), rows(times(1.05, 0.001)))
    assert on_it.headline.endswith("on the margin)")
    assert (on_it.verdict, on_it.is_open) == ("too-imprecise", False)
    wide = decided(claim(part("not greater")), rows(times(1.05, 0.08)))
    assert (wide.verdict, wide.is_open) == ("too-imprecise", True)
    (seen,) = decided(claim(part("same")), rows(times(1.0, 0.001))).parts
    assert replace(seen, verdict="too-imprecise").is_open, "the look before had another verdict"


def test_of_two_undecided_parts_the_one_that_takes_longer_is_named() -> None:
    """2.5 times two blocks take fewer minutes than a smaller multiple of ten."""
    file = claim(part("greater", denominator="thread-pool"), part("greater"))
    measured = [
        *rows(2 * times(1.1, 0.22), 2 * BASE),
        row("java thread-pool low 10", times(1.0, 0.30)[:2]),
    ]
    (found,) = claims.decide(file, measured, (), 1.0)
    few, many = found.parts
    of_few, of_many = (more_times(each.comparison, "greater") or 0 for each in found.parts)
    assert of_few > of_many
    assert (few.more_minutes or 0) < (many.more_minutes or 0)
    assert found.headline == many.headline


def test_one_block_decides_nothing_however_large_the_difference() -> None:
    found = decided(claim(part("greater")), rows([9.0], [1.0]))
    assert found.headline == "too imprecise (one block, so no interval)"
    assert "java serial low 10u / pinned low 10u = 9.00" in found.why


def test_two_blocks_decide_nothing_and_leave_the_claim_open() -> None:
    found = decided(claim(part("greater")), rows([9.0, 9.01], [1.0, 1.0]))
    assert found.headline == "too imprecise (2 blocks, a verdict needs 3)"
    assert found.is_open
    assert decided(claim(part("greater")), rows([9.0, 9.01, 9.02], [1.0] * 3)).headline == (
        "reproduced"
    )


def test_what_settles_a_claim_is_said_before_what_is_unknown() -> None:
    """All parts must hold: one that shows no effect settles it, whatever the others will say."""
    file = claim(part("greater"), part("greater", denominator="thread-pool"))
    assert decided(file, rows(times(1.0, 0.02))).headline == "no effect (1 of 2 parts)"


def test_no_two_ratios_of_a_claim_have_one_name() -> None:
    """F1-stuck has the same ratio of Java and of Python."""
    for name in ("adaptive", "thesis"):
        for entry in claim_file.load(store.experiment_file(f"claims/{name}")).claims:
            names: dict[tuple[str, str], object] = {}
            for each in entry.parts:
                for one in each.questions():
                    terms = (one.numerator, one.denominator)
                    top, bottom = (side(of, each.metric, {}, each.kind)[0] for of in terms)
                    cells = (*terms, each.kind)
                    assert names.setdefault((top, bottom), cells) == cells, entry.id


def pooled_claim(
    metric: str = "throughput_per_s",
    expect: str = "not less",
    against: str = 'denominator = { strategy = "pinned" }',
) -> Claims:
    one = (
        f'metric = "{metric}"\nexpect = "{expect}"\npooled = true\nmargin = 0.0309\n'
        'cells = { service = "java", complexity = "low" }\n'
        f'numerator = {{ strategy = "serial" }}\n{against}\n'
        "each = { users = [1, 2, 3, 4] }\n"
    )
    return claim(one)


def pooled_rows(*factors: float, spread: float = 0.04) -> list[Row]:
    return [
        row(f"java {strategy} low {users}", values)
        for users, factor in enumerate(factors, start=1)
        for strategy, values in (("serial", times(factor, spread)), ("pinned", BASE))
    ]


def test_a_pooled_claim_holds_for_any_such_cell_though_no_single_cell_shows_it() -> None:
    found = decided(pooled_claim(), pooled_rows(0.999, 1.001, 1.0, 1.0))
    pool, *cells = found.parts
    assert [each.verdict for each in cells] == ["too-imprecise"] * 4
    assert (pool.verdict, found.verdict) == ("reproduced", "reproduced")
    assert pool.label == "any similar cell (from 4 ratios)"


def test_a_pooled_claim_is_contradicted_by_one_cell_and_undecided_where_cells_differ() -> None:
    bad = decided(pooled_claim(), pooled_rows(1.0, 1.001, 0.999, 0.7))
    assert bad.verdict == "contradicted"
    assert "java serial low 4u / pinned low 4u" in bad.why
    spread = decided(pooled_claim(), pooled_rows(0.98, 1.06, 1.0, 0.97))
    assert spread.verdict == "too-imprecise"
    pool, *_ = spread.parts
    assert more_times(pool.comparison, "not less") is None, "no number of blocks makes cells alike"
    lacking = decided(pooled_claim(), pooled_rows(1.0, 1.0, 1.0))
    assert lacking.verdict == "not-measured"


def test_a_pool_is_guarded_against_the_generator_though_no_cell_of_it_is_decided() -> None:
    measured = [
        with_facts(each, generator_share=0.45 if each.cell.strategy == "serial" else 0.60)
        for each in pooled_rows(0.999, 1.001, 1.0, 1.0, spread=0.08)
    ]
    found = decided(pooled_claim(), measured)
    assert [each.verdict for each in found.parts] == ["not-measurable", *["too-imprecise"] * 4]
    assert "the load generator took up to 60 % of the CPU time" in found.why


def test_a_pool_on_the_margin_is_not_open_though_no_cell_of_it_is_decided() -> None:
    """Its cells alone decide nothing, and a run took every block that it had time for."""
    limit = 1 / 1.0309
    found = decided(pooled_claim(), pooled_rows(*(limit * each for each in (1.0, 1.001, 0.999, 1))))
    pool, *cells = found.parts
    assert pool.headline.endswith("on the margin)")
    assert [(each.verdict, each.is_open) for each in cells] == [("too-imprecise", True)] * 4
    assert (found.verdict, found.is_open) == ("too-imprecise", False)


def against_best(metric: str, expect: str) -> Claims:
    return pooled_claim(metric, expect, 'denominator_best = { strategy = ["pinned", "pipeline"] }')


#: Requests per second that hold no 1 000 in a block.
NEAR_1 = (1.0, 1.004, 0.996, 1.002, 0.998)
FEW = {"serial": 10.0, "pinned": 20.0}


@pytest.mark.parametrize(("slower", "verdict"), [(5.1, "reproduced"), (4.9, "not-measured")])
def test_a_candidate_that_was_not_measured_counts_as_lost_only_where_it_is_far_behind(
    slower: float, verdict: str
) -> None:
    """With 4 users, of whom each waits 40 ms for the best; with 3 it takes so many times that."""
    per_s = 3 / (0.04 * slower)
    slow = [row(f"java pipeline low {users}", [per_s]) for users in (1, 2, 3)]
    planted = [*pooled_rows(0.999, 1.001, 1.0, 1.0), *slow, row("java pipeline low 4")]
    found = decided(against_best("throughput_per_s", "not less"), planted)
    pool, *cells = found.parts
    assert (pool.verdict, found.verdict) == (verdict, verdict)
    assert (pool.comparison.ratio is not None) == (verdict == "reproduced")
    said = "(best of pinned, pipeline; pipeline excluded as far slower)" in cells[-1].label
    assert said == (verdict == "reproduced")
    assert "race" not in cells[0].label, "it has a number there"


@pytest.mark.parametrize(("per_s", "verdict"), [(9.0, "reproduced"), (11.0, "not-measured")])
def test_a_candidate_without_a_p95_is_held_by_its_mean_against_the_best_p95(
    per_s: float, verdict: str
) -> None:
    """The p95 of the best is 20 ms a user; of the other the mean is 1 / 9 s or 1 / 11 s a user."""
    planted = []
    for users in (1, 2, 3, 4):
        tails = [20.0 * users * value / 100 for value in BASE]
        alike = [value * factor for value, factor in zip(tails, NEAR_1, strict=True)]
        planted.append(row(f"java serial low {users}", BASE, p95_ms=alike))
        planted.append(row(f"java pinned low {users}", BASE, p95_ms=tails))
        planted.append(row(f"java pipeline low {users}", [per_s], p95_ms=[None]))
    assert decided(against_best("p95_ms", "not greater"), planted).verdict == verdict


def test_a_percentile_that_cells_have_too_few_answers_for_names_the_time_that_it_takes() -> None:
    few = [
        row(f"java {name} low 10", [per_s] * 3, p95_ms=[None] * 3) for name, per_s in FEW.items()
    ]
    asked = part("not greater").replace("throughput_per_s", "p95_ms")
    found = decided(claim(asked), few)
    assert found.headline == (
        "not measured; its percentiles need 3 minutes of trials in each block"
    ), "1 000 at 20 and at 10 a second"
    enough = row("java pinned low 10", [20.0] * 3, p95_ms=[500.0] * 3)
    assert "need 2 minutes" in decided(claim(asked), [few[0], enough]).headline
    never = row("java pinned low 10", [1.9] * 3, p95_ms=[None] * 3)
    assert decided(claim(asked), [few[0], never]).headline == "not measured", "answers after 5 s"


def test_a_candidate_that_is_far_behind_takes_no_time_for_its_percentile() -> None:
    planted = [
        row(f"java {name} low {users}", [per_s] * 3, p95_ms=[None] * 3)
        for name, per_s in {**FEW, "pipeline": 1.0}.items()
        for users in (1, 2, 3, 4)
    ]
    found = decided(against_best("p95_ms", "not greater"), planted)
    assert "its percentiles need 10 minutes" in found.headline, "4 × 150 s"


def test_a_candidate_that_answered_wrongly_is_not_out_of_the_race() -> None:
    slow = [row(f"java pipeline low {users}", [1.0]) for users in (1, 2, 3)]
    wrong = row("java pipeline low 4", [1.0], ["wrong-answers"])
    planted = [*pooled_rows(0.999, 1.001, 1.0, 1.0), *slow, wrong]
    found = decided(against_best("throughput_per_s", "not less"), planted)
    assert found.verdict == "not-measured"


def test_rule_10_warnings_are_named_with_their_size_and_hide_no_verdict() -> None:
    stolen = rows(times(1.5), marks=["service-restarted"])
    stolen[0] = with_facts(stolen[0], steal_pct=4.0)
    found = decided(claim(part("greater")), stolen)
    assert found.verdict == "reproduced"
    assert found.warned == ("java-serial-unbound-low-10u: steal ≤ 4.2 %",)


def test_rule_10_a_verdict_that_hangs_on_blocks_with_warnings_says_so() -> None:
    slowed = [*times(1.01, 0.005)[:4], 60.0, 61.0]
    measured = [row("java serial low 10", slowed), row("java pinned low 10", [*BASE, 100.0])]
    measured[0] = with_facts(measured[0], foreign_pct=[0.0, 0.0, 0.0, 0.0, 30.0, 30.0])
    found = decided(claim(part("same")), measured)
    assert found.verdict == "too-imprecise"
    assert found.warned[0] == "without the blocks that have warnings: reproduced"


def test_a_strategy_that_does_not_do_its_name_marks_its_cells() -> None:
    found = decided(claim(part("greater")), rows(times(1.5)), PROOFS)
    assert found.warned == ("java-pinned-unbound-low-10u: its proof says DOES NOT",)


def proof(does: bool | None) -> list[Proof]:
    first = PROOFS[0]
    return [first.model_copy(update={"strategy": name, "does": does}) for name in ("serial",)]


@pytest.mark.parametrize(
    ("proofs", "verdict", "why"),
    [
        (proof(True), "reproduced", "The proofs of 1 strategies say DOES"),
        (proof(False), "contradicted", "Proofs say DOES NOT: java serial"),
        (proof(None), "not-measured", "No proof of java serial"),
        ([], "not-measured", "No proof of java serial"),
    ],
)
def test_a_claim_on_structure_is_decided_by_proofs(
    proofs: list[Proof], verdict: str, why: str
) -> None:
    text = 'title = "t"\nmargin = 0.05\n[[claims]]\nid = "F"\ntext = "t"\nreading = "r"\n'
    text += 'proofs = { java = ["serial"] }'
    file = toml_file.parse(text.encode(), claim_file.Claims, "test")
    found = decided(file, [], proofs)
    assert (found.verdict, found.why[: len(why)]) == (verdict, why)


def test_the_study_can_be_judged_by_any_run_without_a_fault() -> None:
    file = claim_file.load(store.experiment_file("claims/thesis"))
    found = {each.id: each for each in claims.decide(file, rows(times(1.5)), PROOFS)}
    assert {each.verdict for each in found.values()} == {"not-measured", "contradicted"}
    assert found["F1"].why == (
        "It is decided by the experiment adaptive, not by this one: make bench EXPERIMENT=adaptive."
    )
    assert found["F2"].verdict == "contradicted"
    assert "java serial low 10u / pinned low 10u" not in found["J3"].headline


def test_a_studys_size_is_only_held_against_a_claim_of_a_difference() -> None:
    """Beside `not greater` a value may even lie the other way: it is shown, and decides nothing."""
    beside = claim(part("not greater", more="study_value = 0.54"))
    assert decided(beside, rows(times(1.02))).verdict == "reproduced"
