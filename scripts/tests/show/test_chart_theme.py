from __future__ import annotations

import json
import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
import vl_convert
from synthetic_rows import around, row

from restbench.experiment.cell import STRATEGIES
from restbench.show.charts import overview, theme
from restbench.show.charts.theme import Chart


@pytest.fixture
def chart() -> Chart:
    found = overview.chart(
        [row("java serial low 10", around(200)), row("java pinned low 10", around(100))]
    )
    assert found
    return found


def luminance(colour: str) -> float:
    """Of WCAG 2."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_two_techniques_of_a_service_never_look_alike() -> None:
    for strategies in STRATEGIES.values():
        for one, other in combinations(strategies, 2):
            (colour, shape), (colour_2, shape_2) = (
                theme.style(theme.STYLES[each]) for each in (one, other)
            )
            assert colour != colour_2, (one, other)
            assert shape != shape_2, (one, other)


def test_every_colour_is_seen_on_the_paper_of_either_scheme() -> None:
    for colour in theme.PALETTE:
        assert contrast(colour, theme.PAPER) >= 3, colour
        assert contrast(theme.DARK[colour], theme.DARK[theme.PAPER]) >= 3, colour


def test_the_schemes_can_be_exchanged_one_by_one() -> None:
    assert len(set(theme.DARK.values())) == len(theme.DARK)


def test_a_spec_has_its_data_and_asks_nobody_for_more(chart: Chart) -> None:
    text = json.dumps({**theme.spec(chart), "$schema": ""})
    assert "://" not in text
    assert '"url"' not in text
    assert theme.spec(chart)["description"] == chart.description


def test_an_svg_has_title_description_and_both_schemes(chart: Chart) -> None:
    root = ElementTree.fromstring(theme.svg(chart))  # noqa: S314 - our own document
    text = "".join(root.itertext())
    assert chart.title in text
    assert chart.description in text
    assert "prefers-color-scheme: dark" in text
    colours = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', theme.svg(chart)))
    assert colours <= set(theme.DARK), "each has its counterpart in the dark scheme"


def test_the_same_chart_is_the_same_bytes(chart: Chart) -> None:
    assert theme.svg(chart) == theme.svg(chart)


@pytest.mark.parametrize(("width_px", "columns"), [(376, 1), (1200, 3)])
def test_a_chart_fits_a_phone_and_a_screen(chart: Chart, width_px: int, columns: int) -> None:
    many = Chart("x", "", "", "", chart.panels * 3, panel_px=320)
    sized = theme.sized(theme.spec(many), width_px)
    assert sized["columns"] == columns
    drawn = theme._drawn(sized)
    assert float(re.findall(r'width="([\d.]+)"', drawn)[0]) <= width_px + columns


def test_the_versions_that_the_audit_reads_are_those_of_the_library() -> None:
    carried = theme.LIBRARY
    assert carried["vega"] == vl_convert.get_vega_version()
    assert carried["vega-embed"] == vl_convert.get_vega_embed_version()
    assert f'"{carried["vega-lite"]}"' in theme.library()
    assert carried["vega-lite"].startswith(f"{vl_convert.get_vegalite_versions()[-1]}.")


def test_the_library_is_complete_small_and_cannot_end_its_element() -> None:
    text = theme.library()
    assert "window.drawChart" in text
    assert text.startswith("/*!\nVega"), "its licence goes with it"
    assert len(text.encode()) < 1_000_000
    assert "</script" not in text
    assert "<!--" not in text
