from __future__ import annotations

from typing import Any

import pytest
from drawn import data_of
from fixture_run import cell
from synthetic_rows import SHAPE, around, row, with_facts

from restbench.analyse.measures import Row
from restbench.experiment.cell import Shape
from restbench.judge.leader import leaders
from restbench.show import document as doc
from restbench.show.charts import overview, theme
from restbench.show.parts.cells import _notes

NOISY = [100.0, 150.0, 60.0]


def tiles(rows: list[Row], panel: int = 0) -> dict[str, dict[str, Any]]:
    """By technique, size and users what stands in a panel."""
    data = data_of(overview.chart(rows), panel)
    return {f"{each['technique']} {each['place']}": each for each in data}


def test_a_technique_shown_to_be_slower_is_filled_with_the_colour_of_its_class() -> None:
    found = tiles([row("java serial low 10", around(200)), row("java pinned low 10", around(80))])
    best, other = found["serial low · 10"], found["pinned low · 10"]
    assert (best["text"], best["fill"]) == ("best", theme.RAMP[0])
    assert (other["text"], other["fill"]) == ("0.40", theme.RAMP[3])
    assert best["ink"] == theme.ON_STRONG
    assert other["ink"] == theme.INK
    assert other["Of the best"].startswith("0.400 [")
    assert found["best, /s low · 10"]["text"] == "200"


def test_what_is_as_good_within_the_margin_says_so() -> None:
    found = tiles([row("java serial low 10", around(200)), row("java pinned low 10", around(199))])
    assert found["pinned low · 10"]["text"].startswith("≈ ")
    assert found["pinned low · 10"]["fill"] == theme.RAMP[0]
    assert found["serial low · 10"]["text"] == "best"


def test_what_only_looks_as_good_because_of_the_load_generator_is_hollow_and_says_so() -> None:
    """0.98 as seen is 1.22 by the service."""
    rows = [
        with_facts(row("java serial low 10", around(200)), generator_share=0.38),
        with_facts(row("java pinned low 10", around(196)), generator_share=0.50),
    ]
    found = tiles(rows)
    assert found["pinned low · 10"]["text"] == "0.98"
    assert found["pinned low · 10"]["fill"] == theme.PAPER
    assert found["serial low · 10"]["text"] == "first"
    (led,) = leaders(rows, "java", "throughput_per_s")
    assert doc.words(_notes(led)).startswith(
        "not shown to be better than AF pinned. AF pinned: the load generator took up to 50 % of"
    )


def test_a_difference_within_the_noise_is_hollow_and_nobody_is_called_best() -> None:
    found = tiles([row("java serial low 10", NOISY), row("java pinned low 10", NOISY[::-1])])
    for each in ("serial", "pinned"):
        assert found[f"{each} low · 10"]["fill"] == theme.PAPER
    assert "best" not in {each["text"] for each in found.values()}


def test_one_block_shows_nothing_and_tells_no_interval() -> None:
    found = tiles([row("java serial low 10", [200.0]), row("java pinned low 10", [20.0])])
    assert found["pinned low · 10"]["fill"] == theme.PAPER
    assert found["serial low · 10"]["text"] == "first"
    assert "no interval" in found["pinned low · 10"]["Of the best"]
    assert found["pinned low · 10"]["Throughput, /s"] == "20.0, no interval"


def test_who_was_measured_alone_is_not_the_best() -> None:
    rows = [row(f"java {each} low 10", around(200)) for each in ("serial", "pinned")]
    found = tiles([*rows, row("java serial low 30", around(200)), row("java pinned low 30")])
    assert (found["serial low · 30"]["text"], found["serial low · 30"]["fill"]) == (
        "only",
        theme.PAPER,
    )


def test_a_wrong_answer_is_said_where_its_number_would_stand() -> None:
    rows = [row("java serial low 10", around(200)), row("java pinned low 10", around(80))]
    wrong = row("java thread-pool low 10", around(900), flags=["wrong-answers", "failed"])
    found = tiles([*rows, wrong])
    assert found["thread-pool low · 10"]["text"] == "wrong"
    assert found["serial low · 10"]["text"] == "best"


def test_cells_that_no_block_has_both_of_have_no_ratio() -> None:
    first = row("java serial low 10", [200.0, 201.0, 199.0])
    tile = tiles([first, with_facts(row("java pinned low 10", [80.0]), block=9)])
    assert tile["pinned low · 10"]["text"] == "?"
    assert tile["pinned low · 10"]["Of the best"] == "no block has measured both cells"


def test_a_share_of_a_few_thousandths_is_not_zero() -> None:
    rows = [row("java serial low 10", around(2000)), row("java pinned low 10", around(8))]
    assert tiles(rows)["pinned low · 10"]["text"] == "0.004"


def test_a_cell_without_a_number_is_a_dot() -> None:
    rows = [row("java serial low 10", around(200)), row("java pinned low 10", around(80))]
    found = tiles([*rows, row("java thread-pool low 10")])
    assert found["thread-pool low · 10"]["text"] == "·"
    assert "fill" not in found["thread-pool low · 10"]


def test_panels_are_services_and_placements_and_the_small_stands_first() -> None:
    large = Row(cell("java serial high 10"), Shape(rows=2000, inner=50, columns=20), (), ())
    pairs = [
        row(f"{service} {strategy} low {users} {placement}", around(100))
        for service, strategy, placement in (
            ("java", "serial", "unbound"),
            ("java", "pinned", "unbound"),
            ("python", "serial", "unbound"),
            ("python", "process-per-request", "unbound"),
            ("python", "serial", "core0"),
            ("python", "process-per-request", "core0"),
        )
        for users in (10, 30)
    ]
    chart = overview.chart([large, *pairs])
    assert chart
    spec = theme.spec(chart)
    assert [each["title"] for each in spec["concat"]] == [
        "Java",
        "Python",
        "Python, bound to core 0",
    ]
    scale = spec["concat"][0]["layer"][0]["encoding"]["y"]["scale"]
    assert scale["domain"] == ["low · 10", "low · 30"], "a cell without another is left out"
    assert "1 cell has no other cell to compare with" in chart.caption


def test_sizes_are_in_their_order() -> None:
    shapes = {"high": Shape(rows=2000, inner=50, columns=20), "low": SHAPE}
    rows = [
        Row(cell(f"java {strategy} {level} 10"), shapes[level], (), made.measurements)
        for level in shapes
        for strategy in ("serial", "pinned")
        for made in [row(f"java {strategy} {level} 10", around(100))]
    ]
    chart = overview.chart(rows)
    assert chart
    scale = theme.spec(chart)["concat"][0]["layer"][0]["encoding"]["y"]["scale"]
    assert scale["domain"] == ["low · 10", "high · 10"]


@pytest.mark.parametrize("rows", [[], [row("java serial low 10", around(200))]])
def test_there_is_no_picture_of_nothing(rows: list[Row]) -> None:
    assert overview.chart(rows) is None


def test_the_text_alternative_tells_who_is_best() -> None:
    chart = overview.chart(
        [row("java serial low 10", around(200)), row("java pinned low 10", around(80))]
    )
    assert chart
    assert "Java: serial is best in 1 of 1." in chart.description


def test_on_a_phone_the_letters_of_many_columns_are_smaller() -> None:
    names = ("serial", "thread-pool", "pinned", "pipeline", "shared-pool", "virtual-threads")
    rows = [row(f"java {each} low 10", around(100 + n)) for n, each in enumerate(names)]
    described = theme.spec(overview.chart(rows) or pytest.fail())
    phone, screen = (theme._render_svg(theme.sized(described, width)) for width in (330, 1024))
    assert phone.count('font-size="9px"') == 2 * (len(names) + 1), "headings and tiles"
    assert 'font-size="9px"' not in screen
