from __future__ import annotations

import json
import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
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


def linear(colour: str) -> npt.NDArray[np.float64]:
    """Red, green and blue of a `#rrggbb`, 0 to 1, in proportion to light."""
    parts = np.array([int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    """Of WCAG 2."""
    return float(linear(colour) @ (0.2126, 0.7152, 0.0722))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_two_techniques_of_a_service_never_look_alike() -> None:
    for strategies in STRATEGIES.values():
        unstyled = {*strategies} - {*theme.STYLES}
        assert not unstyled, "they need a row in theme.json"
        for one, other in combinations(strategies, 2):
            (colour, shape), (colour_2, shape_2) = (
                theme.style(theme.STYLES[each]) for each in (one, other)
            )
            assert colour != colour_2, (one, other)
            assert shape != shape_2, (one, other)


#: How a linear RGB looks without one kind of cones (Machado, Oliveira and Fernandes 2009).
DICHROMATS = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
#: From linear RGB to the XYZ of CIE, whose white is the sum of each row.
TO_XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])
#: Distances in L*a*b*; 2.3 is just noticeable.
TOLD_APART = 10.0


def lab(light: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The L*a*b* of CIE 1976, of a linear RGB."""
    parts = TO_XYZ @ light.clip(0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(parts > 0.008856, np.cbrt(parts), 7.787 * parts + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_the_distance_of_colours_is_that_of_cie() -> None:
    assert lab(np.ones(3)) == pytest.approx([100, 0, 0], abs=1e-6)
    red = lab(np.array([1.0, 0.0, 0.0]))
    assert red == pytest.approx([53.24, 80.09, 67.20], abs=0.1)  # Lindbloom's, of sRGB


@pytest.mark.parametrize("kind", DICHROMATS)
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_a_colour_blind_reader_tells_any_two_techniques_apart_by_colour_alone(
    kind: str, is_dark: bool
) -> None:
    colours = [theme.DARK[each] if is_dark else each for each in theme.PALETTE]
    seen = {each: lab(np.array(DICHROMATS[kind]) @ linear(each)) for each in colours}
    for one, other in combinations(colours, 2):
        assert np.linalg.norm(seen[one] - seen[other]) >= TOLD_APART, (one, other)


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
    drawn = theme._render_svg(sized)
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


@pytest.mark.parametrize("low", [1.01, 2.14, 3.1, 6.0, 9.9])
def test_a_logarithmic_axis_has_two_numbers_at_least(low: float) -> None:
    assert len(theme.log_ticks(low, 2.3 * low)) > 1


def test_an_svg_rounds_places_but_no_value_to_read() -> None:
    rows = [row("java serial low 10", around(200)), row("java pinned low 10", around(0.8))]
    chart = overview.chart(rows)
    assert chart
    text = theme.svg(chart)
    assert ">0.004<" in text
    assert not re.search(r"<[^>]*\d\.\d{3}[^>]*>", text.replace(chart.description, ""))
