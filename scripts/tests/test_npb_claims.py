"""Times, ratios and verdicts of made-up NPB measurements."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from npb_rows import CALL_S, GENERATE_S, cell, measurement, row

from restbench.analyse.npb_results import NpbRow, failures
from restbench.experiment import npb_published
from restbench.experiment.cell import Cell
from restbench.judge import npb
from restbench.judge.claims import Decision
from restbench.store import store

CLAIMS = npb.load(store.EXPERIMENTS / "claims" / "npb.toml")
PUBLISHED = npb_published.load(store.EXPERIMENTS / "published" / "npb.toml")

#: Warming up makes it twice as fast, the service itself nothing: what the study saw as one.
WARMING = [(2.00, 1.00, 1.01), (2.02, 1.01, 1.00), (1.99, 1.00, 1.00), (2.01, 0.99, 0.99)]
#: The service makes it a quarter slower, which a fresh process hides.
HIDDEN = [(fresh, warm, 1.25 * served) for fresh, warm, served in WARMING]
#: Slower than even a fresh process.
SLOWER = [(fresh, warm, 2.6 * served) for fresh, warm, served in WARMING]
NOISY = [(2.0, 1.0, 1.5), (1.0, 2.0, 0.8), (3.0, 1.0, 2.9), (1.5, 0.7, 1.4)]


def decided(rows: Sequence[NpbRow], expected: Sequence[Cell] = ()) -> dict[str, Decision]:
    return {each.id: each for each in npb.decide(CLAIMS, rows, PUBLISHED, expected)}


def test_the_first_run_is_fresh_and_only_the_last_ones_are_warm() -> None:
    one = cell()
    found = NpbRow(one, (measurement(one, 1, [9.0, 5.0, 1.0, 3.0], [8.0, 7.0, 2.0, 4.0], kept=2),))
    assert found.median("fresh_s") == 9.0
    assert found.median("warm_s") == 2.0
    assert found.median("service_s") == 3.0
    assert found.median("client_s") == 3.0 + GENERATE_S + CALL_S
    assert found.median("warm_total_s") == 2.0 + GENERATE_S
    assert found.median("overhead_ms") == pytest.approx(1000 * CALL_S)


def test_the_fresh_run_is_never_warm_however_many_are_kept() -> None:
    one = cell()
    found = NpbRow(one, (measurement(one, 1, [9.0, 1.0], [2.0, 2.0], kept=5),))
    assert found.median("warm_s") == 1.0


def test_the_median_is_over_the_rounds() -> None:
    found = row(cell(), [(1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (9.0, 1.0, 1.0)])
    assert found.median("fresh_s") == 2.0


def test_warming_up_reproduces_the_studys_claim_and_the_fair_one() -> None:
    found = decided([row(cell(), WARMING)])
    assert found["N1"].verdict == "reproduced"
    assert found["N1-fair"].verdict == "reproduced"
    (part,) = found["N1"].parts
    assert part.study_value == pytest.approx(1.034 / 1.071)
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


def test_noise_and_one_round_decide_nothing() -> None:
    for rounds in (NOISY, WARMING[:1]):
        assert decided([row(cell(), rounds)])["N1-fair"].verdict == "too-imprecise"


def test_only_the_studys_own_technique_decides_and_the_others_stand_beside() -> None:
    rows = [row(cell(), WARMING), row(cell(service="python"), SLOWER)]
    found = decided([*rows, row(cell(strategy="shared-pool"), SLOWER)])["N1"]
    assert found.verdict == "reproduced"
    assert [part.cells for part in found.parts] == [("java-serial-unbound-CG-A-1u",)]
    assert [part.verdict for part in found.beside] == ["contradicted", "contradicted"]


def test_one_kernel_the_other_way_contradicts_the_claim() -> None:
    rows = [row(cell("CG-A"), WARMING), row(cell("MG-A"), SLOWER)]
    assert decided(rows)["N1"].verdict == "contradicted"


def test_without_a_cell_that_decides_nothing_is_measured() -> None:
    found = decided([row(cell(service="python"), WARMING)])["N1"]
    assert (found.verdict, found.headline) == ("not-measured", "not measured")
    assert "no cell that decides" in found.why


def test_a_part_of_the_cells_that_decide_never_decides() -> None:
    expected = [cell("CG-A"), cell("IS-A"), cell(service="python"), cell("CG-A-on-2")]
    chosen = decided([row(cell("CG-A"), WARMING)], expected)["N1"]
    assert chosen.headline == "not measured (part: java S IS-A service / fresh)"
    assert "java-serial-unbound-IS-A-1u was not measured in this run" in chosen.why
    assert [part.verdict for part in chosen.parts] == ["reproduced", "not-measured"]
    whole = [row(cell("CG-A"), WARMING), row(cell("IS-A"), WARMING)]
    assert decided(whole, expected)["N1"].verdict == "reproduced"


def test_a_planned_cell_that_was_never_reached_is_a_row_without_numbers() -> None:
    never = NpbRow(cell("IS-A"), ())
    assert (never.flags, never.verified) == (("not-measured",), "not measured")
    assert (never.median("service_s"), never.interval("warm_s")) == (None, None)
    assert decided([row(cell(), WARMING), never])["N1"].verdict == "not-measured"


def test_an_answer_that_is_not_verified_voids_the_cell() -> None:
    good = row(cell(), WARMING)
    wrong = good.rounds[1].model_copy(
        update={"status": "failed", "reason": "not verified", "flags": ("wrong-answers",)}
    )
    found = NpbRow(good.cell, (good.rounds[0], wrong, *good.rounds[2:]))
    assert (found.verified, found.median("service_s")) == ("NO", None)
    assert decided([found])["N1"].verdict == "not-measured"
    assert failures([found]) == ["java-serial-unbound-CG-A-1u, round 2: failed: not verified"]


def test_a_failed_round_keeps_the_others_of_its_cell() -> None:
    good = row(cell(), WARMING)
    dead = good.rounds[0].model_copy(update={"status": "failed", "direct": (), "served": ()})
    found = NpbRow(good.cell, (dead, *good.rounds[1:]))
    assert sorted(found.series("service_s").values) == [2, 3, 4]
    assert "failed" in found.flags


def test_the_explanation_is_a_product_of_two_measured_ratios() -> None:
    rows = [row(cell(level), HIDDEN) for level in ("CG-A", "IS-A")]
    ratio = {each: npb.ratio(rows[0], each).estimate or 0.0 for each in npb.RATIOS}
    assert ratio["service/fresh"] == pytest.approx(ratio["warm/fresh"] * ratio["service/warm"])
    (told,) = npb.explanation(rows)
    assert "java serial" in told
    product = f"{ratio['service/fresh']:.3f} = warm / fresh {ratio['warm/fresh']:.3f}"
    assert f"in the service / fresh process {product}" in told
    assert f"{1000 * CALL_S:.2f} ms (median" in told
