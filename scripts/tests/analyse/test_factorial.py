"""Expected values: Jain, The Art of Computer Systems Performance Analysis, chapters 17 to 19;
Jenal's 2²·3 of 2014; and, for random responses, numpy's least squares."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from designs import JAIN_18, PROCESSORS, SEVEN_FACTORS, STUDY, values
from pytest import approx
from scipy import special

from restbench.analyse.factorial import Factorial, analyse
from restbench.experiment.design import Design
from restbench.failures import CellsFailed


def full(*names: str, **more: object) -> Design:
    factors = {name: ["low", "high"] for name in names or ("instances", "pool_threads")}
    return Design.model_validate({"design": "2^k r", "factors": factors, **more})


def of(cells: list[tuple[float, ...]], confidence: float = 0.95, **more: object) -> Factorial:
    names = "ABCDEFG"[: int(math.log2(len(cells)))]
    return analyse(full(*names, **more), values(cells), confidence=confidence)


def q(found: Factorial) -> list[float]:
    return [found.q0, *(each.q for each in found.effects)]


def shares(found: Factorial) -> list[float]:
    return [each.share_pct for each in found.effects]


def test_the_studys_effects_are_found() -> None:
    found = of(STUDY, blocks=False)
    assert found.model == "additive"
    assert q(found) == approx([579.1758, -3.0708, -4.3742, -4.2175], abs=5e-5)
    assert [12 * each.q**2 for each in found.effects] == approx(
        [113.1602, 229.6000, 213.4477], abs=5e-5
    )
    assert (found.sse, found.sst) == approx((300.8870, 857.0949), abs=5e-5)
    assert shares(found) == approx([13.2028, 26.7882, 24.9036], abs=5e-5)
    assert (found.error_share_pct, found.block_share_pct) == approx((35.1054, 0), abs=5e-5)


def test_the_studys_effects_have_their_intervals_and_no_significance() -> None:
    found = of(STUDY, blocks=False)
    assert (found.s_e, found.s_q) == approx((6.132771, 1.770378), abs=5e-7)
    assert found.degrees_of_freedom == 8
    assert [each.half_width for each in found.effects] == approx([4.0825] * 3, abs=5e-7)
    expected = [(-7.1533, 1.0117), (-8.4567, -0.2917), (-8.3000, -0.1350)]
    for each, interval in zip(found.effects, expected, strict=True):
        assert each.ends == approx(interval, abs=5.1e-5)
    assert [each.p for each in found.effects] == approx([0.12104, 0.03867, 0.04439], abs=5e-6)
    assert [each.p_holm for each in found.effects] == approx([0.12104, 0.11600, 0.11600], abs=6e-6)
    assert found.distinguishable() == []
    assert found.smallest_detectable_effect == approx(5.3, abs=0.05)


def test_blocks_are_taken_out_of_the_error_by_default() -> None:
    found = of(STUDY)
    assert (found.ss_blocks, found.sse) == approx((22.9717, 277.9153), abs=5e-5)
    assert found.degrees_of_freedom == 6
    assert found.s_q == approx(1.964672, abs=5e-7)
    assert found.effects[0].half_width == approx(4.807378, abs=5e-7)
    assert [each.p for each in found.effects] == approx([0.16908, 0.06760, 0.07545], abs=5e-6)
    assert (found.block_share_pct, found.error_share_pct) == approx((2.6802, 32.4253), abs=5e-5)
    assert sum(shares(found)) + found.block_share_pct + found.error_share_pct == approx(100)


def test_the_study_multiplied_has_ratios() -> None:
    found = of(STUDY, blocks=False, model="multiplicative")
    assert found.effects[0].q == approx(-0.0053853, abs=5e-8)
    assert shares(found) == approx([13.3797, 26.7344, 24.8372], abs=5e-5)
    assert [each.ratio[0] for each in found.effects] == approx(
        [0.98929, 0.98489, 0.98543], abs=5e-6
    )
    low, high = found.effects[1].ends
    assert found.effects[1].ratio[1:] == (math.exp(2 * low), math.exp(2 * high))


def test_jains_memory_and_cache_example_is_found() -> None:
    found = of(JAIN_18, confidence=0.9, blocks=False, model="additive")
    assert q(found) == approx([41, 21.5, 9.5, 5])
    assert [12 * each.q**2 for each in found.effects] == approx([5547, 1083, 300])
    assert (found.sse, found.sst) == approx((102, 7032))
    assert [*shares(found), found.error_share_pct] == approx(
        [78.8823, 15.4010, 4.2662, 1.4505], abs=5e-5
    )
    assert (found.s_e, found.s_q) == approx((3.570714, 1.030776), abs=5e-7)
    assert found.effects[0].half_width == approx(1.9168, abs=5e-5)


def test_jains_example_has_its_contrast_and_its_predictions() -> None:
    found = of(JAIN_18, confidence=0.9, blocks=False, model="additive")
    a, b, ab = (each.q for each in found.effects)
    contrast, half_width = a + b - 2 * ab, found.half_width(1 + 1 + 2**2)
    assert (contrast, found.s_q * math.sqrt(6)) == approx((21, 2.524876), abs=5e-7)
    assert [contrast - half_width, contrast + half_width] == approx([16.3049, 25.6951], abs=5e-5)
    # The cell (-, -) by all four coefficients; Jain's text counts one more.
    for coefficients, future_runs, low in (
        (4, 1, 7.3329), (4, math.inf, 11.1664), (5, 1, 7.0969), (5, math.inf, 10.7140),
    ):  # fmt: skip
        half_width = found.half_width(coefficients, future_runs)
        assert found.means[0] - half_width == approx(low, abs=5e-5)


@pytest.mark.parametrize("factors", [2, 3])
@pytest.mark.parametrize("has_blocks", [True, False])
def test_least_squares_finds_the_same(factors: int, has_blocks: bool) -> None:
    """A column for each effect, and for each block but the first: y ~ A*B + C(block)."""
    rng, runs, cells = np.random.default_rng(factors), 4, 2**factors
    y = rng.normal(100, 10, (cells, runs)) + rng.normal(0, 20, runs)
    found = of([*map(tuple, y)], blocks=has_blocks, model="additive")
    signs = np.array([each.column.signs for each in found.effects], dtype=float)
    later = range(1, runs if has_blocks else 1)
    x = np.array(
        [
            [1.0, *signs[:, cell], *(float(run == block) for block in later)]
            for cell in range(cells)
            for run in range(runs)
        ]
    )
    solved, (sse,), rank, _ = np.linalg.lstsq(x, y.ravel(), rcond=None)
    free = y.size - int(rank)
    assert (found.sse, found.degrees_of_freedom) == (approx(sse), free)
    assert q(found)[1:] == approx([*solved[1:cells]])
    errors = np.sqrt(sse / free * np.diag(np.linalg.inv(x.T @ x)))[1:cells]
    half_widths = special.stdtrit(free, 0.975) * errors
    assert [each.half_width for each in found.effects] == approx([*half_widths])
    p = 2 * special.stdtr(free, -np.abs(solved[1:cells]) / errors)
    assert [each.p for each in found.effects] == approx([*p])


def test_one_run_a_cell_gives_shares_and_no_significance() -> None:
    found = of([(15,), (45,), (25,), (75,)], model="additive")
    assert found.warnings == ()
    assert q(found) == approx([40, 20, 10, 5])
    assert shares(found) == approx([76.190, 19.048, 4.762], abs=5e-4)
    assert found.degrees_of_freedom == 0
    assert {(each.half_width, each.p, each.p_holm) for each in found.effects} == {(None,) * 3}
    assert found.distinguishable() == []
    with pytest.raises(ValueError, match="one run a cell"):
        float(found.s_q)


def test_one_run_a_cell_has_lenths_margin() -> None:
    found = of([(14,), (22,), (10,), (34,), (46,), (58,), (50,), (86,)], model="additive")
    assert [each.column.words[0] for each in found.effects] == [
        "A",
        "B",
        "AB",
        "C",
        "AC",
        "BC",
        "ABC",
    ]
    assert q(found)[1:] == approx([10, 5, 5, 20, 2, 3, 1])
    assert shares(found) == approx(
        [17.7305, 4.4326, 4.4326, 70.9220, 0.7092, 1.5957, 0.1773], abs=5e-5
    )
    assert found.lenth_margin == approx(22.5847, abs=5e-5)
    assert found.lenth_margin / 6 == approx(3.764, abs=5e-4)  # t[.975; 7/3] of a pseudo error of 6


def test_effects_that_multiply_are_told_from_effects_that_add() -> None:
    added = of(PROCESSORS, blocks=False, model="additive")
    assert [*shares(added), added.error_share_pct] == approx(
        [30.1488, 30.1488, 29.0131, 10.6893], abs=5e-5
    )
    assert (
        'The largest value is 12534 times the smallest: model = "multiplicative" may fit better.'
        in added.warnings
    )
    found = of(PROCESSORS, confidence=0.9, blocks=False)
    assert found.model == "multiplicative"
    assert [*shares(found), found.error_share_pct] == approx(
        [49.8529, 49.8553, 0.0431, 0.2486], abs=5e-5
    )
    tens = math.log(10)
    assert [each / tens for each in q(found)] == approx(
        [0.0286, -0.9715, -0.9715, 0.0286], abs=5e-5
    )
    assert (found.effects[0].half_width or 0) / tens == approx(0.045104, abs=5e-7)
    assert [end / tens for end in found.effects[2].ends] == approx([-0.0165, 0.0737], abs=5e-5)
    assert [each.name for each in found.distinguishable()] == ["B", "A"]


def test_a_fraction_of_a_design_sums_what_it_cannot_tell_apart() -> None:
    design = Design.model_validate(
        {
            "design": "2^(k-p) r",
            "factors": {f"f{letter}": [0, 1] for letter in "ABCDEFG"},
            "generators": ["D=AB", "E=AC", "F=BC", "G=ABC"],
            "model": "additive",
        }
    )
    found = analyse(design, values(SEVEN_FACTORS))
    by_letter = {each.column.words[0]: each for each in found.effects}
    assert [8 * found.q0, *(8 * by_letter[each].q for each in "ABCDEFG")] == approx(
        [317, 101, 35, 109, 43, 1, 47, 3]
    )
    assert [by_letter[each].share_pct for each in "ABCDEFG"] == approx(
        [37.2639, 4.4749, 43.4009, 6.7543, 0.0037, 8.0694, 0.0329], abs=5e-5
    )
    assert by_letter["A"].name == "fA + fB × fD + fC × fE + fF × fG + 12 more"


@pytest.mark.parametrize(("largest", "model"), [(29.9, "additive"), (30, "multiplicative")])
def test_effects_multiply_from_three_times_the_smallest_mean_on(largest: float, model: str) -> None:
    assert of([(10, 10), (20, 20), (15, 15), (largest, largest)]).model == model


def test_what_is_not_above_0_is_never_multiplied() -> None:
    assert of([(-1,), (1,), (2,), (30,)]).model == "additive"
    with pytest.raises(CellsFailed, match="needs values above 0, one is 0"):
        of([(0,), (1,), (2,), (30,)], model="multiplicative")


def test_a_block_that_lacks_a_cell_is_left_out_whole_and_said() -> None:
    lacking = [dict(cell) for cell in values([(*cell, 1e6, 1e6) for cell in STUDY])]
    del lacking[1][4]
    lacking[2][5] = lacking[3][5] = math.nan
    design = full(factors={"instances": [1, 2], "pool_threads": [20, 60]})
    found = analyse(design, lacking)
    assert found.blocks == (1, 2, 3)
    assert q(found) == approx(q(of(STUDY)))
    assert found.left_out == (
        "Block 4 is left out: it has no value of instances 2, pool_threads 20.",
        "Block 5 is left out: it has no value of instances 1, pool_threads 60 and 1 more.",
    )


def test_without_any_whole_block_there_is_nothing_to_analyse() -> None:
    with pytest.raises(CellsFailed, match=r"no block has all 4 cells\. Block 1 is left out"):
        analyse(full(), [{1: 1.0}, {1: 1.0}, {1: 1.0}, {}])
    with pytest.raises(CellsFailed, match="Nothing was measured"):
        analyse(full(), [{}, {}, {}, {}])


def test_a_response_that_does_not_vary_has_no_shares() -> None:
    for constant in (7, 0.1, 1e-9, 0):
        found = of([(constant,) * 7] * 4)
        assert shares(found) == [0, 0, 0]
        assert [each.p_holm for each in found.effects] == [1, 1, 1]
        assert found.warnings == ()
    assert of([(7,)] * 4).lenth_margin == 0


def test_a_run_far_from_its_cell_is_named() -> None:
    quiet = [[100 + 0.1 * (7 * (i + 3 * j) % 5) for j in range(8)] for i in range(4)]
    quiet[2][5] += 5
    (warning,) = [each for each in of([*map(tuple, quiet)]).warnings if "s_e" in each]
    assert warning.startswith("A low, B high, block 6: the residual 3.") and "3 s_e" in warning


def test_a_drift_from_block_to_block_shows_in_the_order_of_measurement() -> None:
    rng = np.random.default_rng(1)
    cells = [*map(tuple, 100 + 2.0 * np.arange(8) + rng.normal(0, 0.5, (4, 8)))]

    def warned(blocks: bool) -> bool:
        return any("order of measurement" in each for each in of(cells, blocks=blocks).warnings)

    assert warned(blocks=False)
    assert not warned(blocks=True), "it is the blocks' then, and not checked"


def test_cells_that_spread_differently_are_told_from_chance() -> None:
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 1, (4, 8)) * np.array([[1], [1], [1], [20]])
    wide = of([*map(tuple, 500 + noise)])
    assert any("vary unequally, A high, B high most" in each for each in wide.warnings)
    # The study's cells differ 21-fold in variance at r = 3, as chance has it.
    assert of(STUDY).warnings == ()


def test_noise_alone_is_seldom_significant_and_seldom_warned_of() -> None:
    rng = np.random.default_rng(3)
    found = [of([*map(tuple, each)]) for each in rng.normal(500, 10, (400, 4, 5))]
    assert sum(bool(each.distinguishable()) for each in found) <= 0.07 * 400
    assert sum(bool(each.warnings) for each in found) <= 0.15 * 400


def test_the_finding_is_json_with_every_number() -> None:
    kept = json.loads(json.dumps(of(STUDY, blocks=False).to_json(), allow_nan=False))
    assert kept["effects"][1]["share_pct"] == approx(26.7882, abs=5e-5)
    assert kept["effects"][1]["half_width"] == approx(4.0825, abs=5e-7)
    assert kept["effects"][1]["column"] == {"words": ["B"], "signs": [-1, -1, 1, 1]}
    assert (kept["model"], kept["design"]["response"], kept["cells"][1]) == (
        "additive",
        "throughput_per_s",
        {"A": "high", "B": "low"},
    )
    once = json.loads(json.dumps(of([(1,), (2,), (3,), (5,)]).to_json(), allow_nan=False))
    assert (once["s_q"], once["effects"][0]["p"]) == (None, None)
    assert once["lenth_margin"] > 0
