from __future__ import annotations

from dataclasses import replace

import pytest
from designs import JAIN_18, PROCESSORS, SEVEN_FACTORS, STUDY, of
from drawn import data_of

from restbench.analyse.factorial import Factorial
from restbench.show.charts import theme
from restbench.show.document import Table, words
from restbench.show.kinds import factorial as shown


def seven_factors() -> Factorial:
    return of(
        SEVEN_FACTORS,
        design="2^(k-p) r",
        factors={f"f{letter}": [0, 1] for letter in "ABCDEFG"},
        generators=["D=AB", "E=AC", "F=BC", "G=ABC"],
        model="additive",
    )


def texts(table: Table) -> list[tuple[str, ...]]:
    return [tuple(map(words, row)) for row in table.rows]


def test_the_study_in_words() -> None:
    assert shown.sentence(of(STUDY)) == (
        "pool_threads (20 → 60) explains 26.8 % of the variation of throughput, "
        "instances × pool_threads 24.9 %, instances 13.2 %; 35.1 % is between runs of one cell. "
        "No effect is distinguishable from 0 (Holm, 5 %); effects below 5.3 (0.9 %) could not be "
        "detected."
    )


def test_what_is_between_blocks_is_said() -> None:
    said = shown.sentence(of(STUDY, blocks=True))
    assert "; 2.7 % is between blocks, 32.4 % is between runs of one cell. " in said


def test_half_of_the_variation_or_more_is_one_factor() -> None:
    assert shown.sentence(of(JAIN_18, model="additive", response="mean_ms")) == (
        "79 % of mean response time's variation is instances, pool_threads 15.4 %, instances × "
        "pool_threads 4.3 %; 1.5 % is between runs of one cell. Distinguishable from 0 (Holm, "
        "5 %): instances (q 21.5), pool_threads (q 9.50), instances × pool_threads (q 5.00); "
        "effects below 3.1 (7.6 %) could not be detected."
    )


def test_effects_that_multiply_are_ratios() -> None:
    said = shown.sentence(of(PROCESSORS))
    assert said.startswith(
        "pool_threads (20 → 60) explains 49.9 % of the variation of ln throughput, instances "
        "49.9 %, 1 more 0.0 %; 0.2 % is between runs of one cell. "
    )
    assert "(Holm, 5 %), throughput high/low: " in said
    assert "pool_threads (0.011)" in said
    assert said.endswith("; ratios below 1.401 could not be detected.")
    row = ("B", "pool_threads", "0.011", "0.009 … 0.015", "49.9", "< 0.001")
    assert row in texts(shown.effect_table(of(PROCESSORS)))


def test_one_run_a_cell_has_no_word_of_significance() -> None:
    said = shown.sentence(of([(15,), (45,), (25,), (75,)], model="additive"))
    assert said.startswith("76 % of throughput's variation is instances, pool_threads 19.0 %, inst")
    assert "between runs" not in said
    assert "istinguishable" not in said
    assert "One run per cell gives shares only; Lenth's margin is " in said


def test_a_fraction_never_speaks_of_an_effect_alone() -> None:
    said = shown.sentence(seven_factors())
    assert said.startswith("fC + fA × fE + fB × fF + fD × fG + 12 more explains 43.4 % of the")


def test_a_response_that_does_not_vary_is_said() -> None:
    assert shown.sentence(of([(3, 3)] * 4)) == "No variation: throughput is the same in every run."


def test_the_tables_have_every_number() -> None:
    table = shown.effect_table(of(STUDY, blocks=True))
    heads = [each.heading for each in table.columns]
    assert heads == ["Sign", "Effect", "q", "95 % interval", "Share %", "p (Holm)"]
    assert texts(table) == [
        ("I", "mean", "579", "", "", ""),
        ("A", "instances", "-3.07", "-7.88 … 1.74", "13.2", "0.203"),
        ("B", "pool_threads", "-4.37", "-9.18 … 0.433", "26.8", "0.203"),
        ("AB", "instances × pool_threads", "-4.22", "-9.02 … 0.590", "24.9", "0.203"),
        ("", "between blocks", "", "", "2.7", ""),
        ("", "between runs of one cell", "", "", "32.4", ""),
    ]
    signs = shown.sign_table(of(STUDY))
    assert [each.heading for each in signs.columns][-3:] == [
        "Mean", "95 % interval", "95 % for a new run",
    ]  # fmt: skip
    assert texts(signs)[:2] == [
        ("instances 1, pool_threads 20", "1", "-1", "-1", "1", "582", "574 … 591", "566 … 599"),
        ("instances 2, pool_threads 20", "1", "1", "-1", "-1", "585", "577 … 593", "568 … 601"),
    ]
    once = shown.sign_table(of([(15,), (45,), (25,), (75,)], model="additive"))
    assert [each.heading for each in once.columns] == ["Cell", "I", "A", "B", "AB", "Mean"]


@pytest.mark.parametrize(
    "found",
    [
        of(STUDY),
        of([(9e3,), (1e4,), (2e4,), (2e4,)]),
        of(PROCESSORS),
        seven_factors(),
        of([(3, 3)] * 4),
        of([(1,), (9,), (2,), (20,)]),
    ],
    ids=["additive", "large", "multiplicative", "one run", "constant", "one run multiplied"],
)
def test_the_figures_are_svg(found: Factorial) -> None:
    drawn = [theme.svg(each) for each in shown.charts(found)]
    assert all(each.startswith("<svg") for each in drawn)
    assert len(drawn) == (1 if found.degrees_of_freedom == 0 else 2)


def test_effects_have_shares_sizes_and_are_filled_where_they_are_distinguishable() -> None:
    found = of(JAIN_18, model="additive", response="mean_ms")
    chart, residuals = shown.charts(found)
    shares = {each["label"]: each["value"] for each in data_of(chart)}
    assert shares["instances"] == pytest.approx(79, abs=0.5)
    assert "between runs of one cell" in shares
    first = data_of(chart, 1)[0]
    assert (first["label"], first["value"]) == ("instances", pytest.approx(21.5))
    assert first["low"] < 21.5 < first["high"]
    assert first["fill"] == theme.PALETTE[0]
    assert [each["title"] for each in theme.spec(chart)["concat"]] == ["Share", "Size"]
    assert len(data_of(residuals)) == 12


def test_without_what_is_between_blocks_the_residuals_have_no_order_of_measurement() -> None:
    def told(*, blocks: bool) -> tuple[list[str], str]:
        _, residuals = shown.charts(of(STUDY, blocks=blocks))
        panels = [panel["layer"][-1] for panel in theme.spec(residuals)["concat"]]
        return [each["encoding"]["x"]["title"] for each in panels], residuals.caption

    names, caption = told(blocks=False)
    assert names == ["Predicted", "Block", "Normal quantile"]
    assert "order of measurement" not in caption
    names, caption = told(blocks=True)
    assert names == ["Predicted", "Normal quantile"]
    assert caption.endswith("so these are not compared with the order of measurement.")


def test_one_run_a_cell_has_lenths_margin_and_no_interval() -> None:
    (chart,) = shown.charts(of([(9e3,), (1e4,), (2e4,), (2e4,)]))
    sizes = data_of(chart, 1)
    assert all("low" not in each and each["fill"] == theme.PAPER for each in sizes)
    assert all(each["least"] == -each["most"] for each in sizes)


def test_the_largest_of_many_effects_are_drawn() -> None:
    many = of(
        [(100.0 + n * n % 17, 101.0 + n % 5) for n in range(32)],
        factors={f"factor-{letter}": ["low", "high"] for letter in "abcde"},
    )
    assert "Only the 20 largest of 31 effects are shown." in shown.charts(many)[0].caption


def test_of_many_effects_that_differ_the_sentence_names_the_largest_three() -> None:
    found = of(PROCESSORS)
    said = shown.sentence(replace(found, effects=3 * found.effects))
    assert " and 3 more; " in said
