"""Times, ratios and verdicts of made-up NPB measurements."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from npb_rows import CALL_S, GENERATE_S, cell, claims_on, lost, published, row, row_of, trial

from restbench.analyse import npb
from restbench.analyse.comparison import series
from restbench.analyse.measures import Row
from restbench.analyse.npb import ratio
from restbench.judge import claims
from restbench.judge.claims import Decision
from restbench.show.kinds.npb import explanation

#: Warming up makes it twice as fast, the service itself nothing: what the study saw as one.
WARMING = [(2.00, 1.00, 1.01), (2.02, 1.01, 1.00), (1.99, 1.00, 1.00), (2.01, 0.99, 0.99)]
#: The service makes it a quarter slower, which a fresh process hides.
HIDDEN = [(fresh, warm, 1.25 * served) for fresh, warm, served in WARMING]
#: Slower than even a fresh process.
SLOWER = [(fresh, warm, 2.6 * served) for fresh, warm, served in WARMING]


def decided(rows: Sequence[Row], *levels: str) -> dict[str, Decision]:
    on = claims_on(*(levels or [row.cell.complexity for row in rows]))
    return {each.id: each for each in claims.decide(on, rows, ())}


def test_the_first_run_is_fresh_and_only_the_last_ones_are_warm() -> None:
    one = cell()
    found = row_of(one, [trial(one, 1, [9.0, 5.0, 1.0, 3.0], [8.0, 7.0, 2.0, 4.0], kept=2)])
    assert series(found, "fresh_s").median == 9.0
    assert series(found, "warm_s").median == 2.0
    assert series(found, "service_s").median == 3.0
    assert series(found, "client_s").median == 3.0 + GENERATE_S + CALL_S
    assert series(found, "warm_total_s").median == 2.0 + GENERATE_S
    assert series(found, "overhead_ms").median == pytest.approx(1000 * CALL_S)


def test_the_fresh_run_is_never_warm_however_many_are_kept() -> None:
    one = cell()
    found = row_of(one, [trial(one, 1, [9.0, 1.0], [2.0, 2.0], kept=5)])
    assert series(found, "warm_s").median == 1.0


def test_the_median_is_over_the_blocks() -> None:
    found = row(cell(), [(1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (9.0, 1.0, 1.0)])
    assert series(found, "fresh_s").median == 2.0


def test_a_trial_is_of_the_last_calls_or_without_a_service_of_the_last_runs() -> None:
    called = trial(cell(), 1, [9.0, 1.0], [8.0, 2.0, 4.0], kept=2)
    assert called.elapsed_us.tolist() == [2_750_000, 4_750_000]
    assert called.seconds == 7.5
    alone = trial(cell("CG-A-on-2"), 1, [9.0, 2.0, 4.0], [], kept=2)
    assert alone.elapsed_us.tolist() == [2_500_000, 4_500_000]
    assert "service_s" not in alone.extras


def test_warming_up_reproduces_the_studys_claim_and_the_fair_one() -> None:
    found = decided([row(cell(), WARMING)])
    assert found["N1"].verdict == "reproduced"
    assert found["N1-fair"].verdict == "reproduced"
    (part,) = found["N1"].parts
    assert part.study_value == pytest.approx(1.034 / 1.071, rel=1e-3)
    assert part.comparison.ratio is not None
    assert part.comparison.ratio.low < 0.5 < part.comparison.ratio.high
    assert found["N1-fair"].parts[0].study_value is None


def test_a_slower_service_hides_behind_a_fresh_process_and_not_behind_a_warm_one() -> None:
    found = decided([row(cell(), HIDDEN)])
    assert found["N1"].verdict == "reproduced"
    assert found["N1-fair"].verdict == "contradicted"


def test_a_service_slower_than_a_fresh_process_contradicts_both() -> None:
    found = decided([row(cell(), SLOWER)])
    assert found["N1"].verdict == "contradicted"
    assert found["N1-fair"].verdict == "contradicted"


def test_only_the_studys_own_technique_decides_and_the_others_are_shown() -> None:
    rows = [row(cell(), WARMING), row(cell(service="python"), SLOWER)]
    found = decided([*rows, row(cell(strategy="shared-pool"), SLOWER)])["N1"]
    assert found.verdict == "reproduced"
    assert [part.cells for part in found.parts] == [("java-serial-unbound-CG-A-1u",)]
    shown = {part.cells[0]: part.verdict for part in found.context}
    assert shown["java-shared-pool-unbound-CG-A-1u"] == "contradicted"
    assert shown["python-serial-unbound-CG-A-1u"] == "contradicted"
    assert shown["python-process-per-element-unbound-CG-A-1u"] == "not-measured"


def test_without_a_cell_that_decides_nothing_is_measured() -> None:
    found = decided([row(cell(service="python"), WARMING)])["N1"]
    assert (found.verdict, found.headline) == ("not-measured", "not measured")


def test_a_part_of_the_cells_that_decide_never_decides() -> None:
    chosen = decided([row(cell("CG-A"), WARMING)], "CG-A", "IS-A")["N1"]
    assert chosen.headline == "not measured (part: java serial IS-A 1u service / fresh)"
    assert "java-serial-unbound-IS-A-1u is not in this run" in chosen.why
    assert {part.verdict for part in chosen.parts} == {"reproduced", "not-measured"}
    whole = [row(cell("CG-A"), WARMING), row(cell("IS-A"), WARMING)]
    assert decided(whole)["N1"].verdict == "reproduced"


def test_a_planned_cell_that_was_never_reached_is_a_row_without_numbers() -> None:
    never = row_of(cell("IS-A"), [])
    assert (never.flags, npb.verified(never)) == (("not-measured",), "not measured")
    assert (series(never, "service_s").median, never.interval("warm_s")) == (None, None)
    assert decided([row(cell(), WARMING), never])["N1"].verdict == "not-measured"


def test_an_answer_that_is_not_verified_voids_its_cell_in_its_block() -> None:
    of = cell()
    good = [
        trial(of, n, [fresh, warm], [served])
        for n, (fresh, warm, served) in enumerate(WARMING, start=1)
    ]
    events = (lost(of, "wrong", "not verified: 8.4", block=2),)
    found = row_of(of, [good[0], *good[2:]], events)
    assert npb.verified(found) == "NO"
    assert [each.block for each in found.valid_blocks] == [1, 3, 4]
    assert npb.failures([found]) == [
        "java-serial-unbound-CG-A-1u, block 2: wrong-answers: not verified: 8.4"
    ]
    assert series(row_of(of, [], events), "service_s").median is None


def test_a_failed_block_keeps_the_others_of_its_cell() -> None:
    of = cell()
    found = row_of(of, [trial(of, 2, [2.0, 1.0], [1.0])], (lost(of, "failed", "it died"),))
    assert series(found, "service_s").median == 1.0
    assert "failed" in found.flags
    assert npb.verified(found) == "yes"


def test_the_explanation_is_a_product_of_two_measured_ratios() -> None:
    rows = [row(cell(level), HIDDEN) for level in ("CG-A", "IS-A")]
    found = {each: ratio(rows[0], each).estimate or 0.0 for each in npb.RATIOS}
    assert found["service/fresh"] == pytest.approx(found["warm/fresh"] * found["service/warm"])
    (told,) = explanation(rows)
    assert told.startswith("Java serial, geometric means")
    product = f"{found['service/fresh']:.3f} = warm / fresh {found['warm/fresh']:.3f}"
    assert f"in the service / fresh process {product}" in told
    assert f"{1000 * CALL_S:.2f} ms (median" in told


def test_the_claims_have_the_ratios_of_the_published_table() -> None:
    levels = list(published().rows)
    parts = [part for part in claims_on(*levels).claims[0].parts if part.study_values]
    told = {level: ratio for part in parts for level, ratio in part.study_values.items()}
    assert set(told) == set(levels)
    for level, found in told.items():
        known = published().rows.get(level)
        assert known is not None
        assert found == pytest.approx(known.ratio, rel=1e-3)
