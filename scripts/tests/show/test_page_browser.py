"""The page as a reader has it: in a real Chromium, wide and narrow, light and dark, with a keyboard
and for a screen reader."""

from __future__ import annotations

import pytest
from page_in_browser import (
    EACH_ONCE,
    TOO_FAINT,
    open_everything,
    serious,
    varied_run,
    wait_until_drawn,
)
from playwright.sync_api import Locator, Page
from shown_run import findings

from restbench.show import report, views
from restbench.show.charts import theme
from restbench.store import exported
from restbench.store.store import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = varied_run(tmp_path_factory.mktemp("page") / "run")
    report.write(findings(made))
    return made


@pytest.fixture
def address(run: Run) -> str:
    return run.report.as_uri()


@pytest.mark.parametrize("view", EACH_ONCE, ids=str)
def test_every_chart_is_drawn_fits_stands_out_and_is_told_to_a_screen_reader(
    page: Page, view: tuple[int, str]
) -> None:
    open_everything(page)
    assert page.locator("figure.chart").count() >= 4, "overview, two figures and stages"
    assert page.evaluate("document.documentElement.scrollWidth") == view[0]
    assert page.evaluate(TOO_FAINT) == []
    assert serious(page, contrast=view[0] > 400) == []  # of narrow pages it is the same


def test_the_records_of_a_chart_are_those_that_were_drawn_from(page: Page, run: Run) -> None:
    """They stand packed in the page: names and repeated texts once, values as rows."""
    first = views.drawn(exported.read(run.exported_file), run).first
    assert first is not None
    packed = page.evaluate("JSON.parse(document.querySelector('figure.chart script').textContent)")
    assert packed != theme.spec(first.chart)
    unpacked = page.evaluate("definition(document.querySelector('figure.chart'))")
    assert unpacked == theme.spec(first.chart)


def test_sentence_picture_and_reasons_are_on_the_first_screen(page: Page) -> None:
    wait_until_drawn(page)
    for part in (".answer", "#chart-overview .plot", ".reasons"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900, part


@pytest.mark.parametrize("view", [(400, "light")], ids=str)
def test_on_a_narrow_screen_the_reasons_are_seen_before_the_picture(
    page: Page, view: tuple[int, str]
) -> None:
    sentence, reasons, picture = (
        page.locator(part).bounding_box() for part in (".answer", ".reasons", "#answer figure")
    )
    assert sentence is not None and reasons is not None and picture is not None
    assert 0 < sentence["y"] + sentence["height"] <= reasons["y"], view
    assert reasons["y"] + reasons["height"] <= min(900, picture["y"]), view


def test_a_link_to_a_cell_opens_it_and_what_folds_it_away(page: Page) -> None:
    details = page.locator("#cell-java-serial-unbound-low-30u")
    assert not details.is_visible()
    wait_until_drawn(page)  # a chart that is drawn moves what a click should meet
    page.locator("#matrix > summary").click()
    page.locator('#matrix a[href="#cell-java-serial-unbound-low-30u"]').first.click()
    assert details.evaluate("one => one.open")
    details.locator("table").first.wait_for()


def test_a_mark_of_a_chart_leads_to_its_cell_and_is_told_under_the_pointer(page: Page) -> None:
    wait_until_drawn(page)
    mark = page.locator("#chart-figure-15 .plot svg .mark-symbol path").first
    mark.hover()
    tip = page.locator("#vg-tooltip-element")
    tip.wait_for()
    assert "serial" in tip.inner_text()
    mark.click()
    page.wait_for_function("location.hash.startsWith('#cell-java-serial')")
    assert page.evaluate("document.getElementById(location.hash.slice(1)).open")


def test_a_tile_tells_its_numbers_where_its_text_is_pointed_at(page: Page) -> None:
    wait_until_drawn(page)
    box = page.locator("#chart-overview .mark-text text", has_text="best").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for(timeout=5000)
    assert "Of the best" in tip.inner_text()


def test_a_printed_page_has_its_charts_though_nobody_scrolled_to_them(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 100})
    page.reload()
    page.pdf()
    figures = page.locator("figure.chart:visible")
    assert figures.locator(".plot svg").count() == figures.count()


@pytest.mark.parametrize("view", [(1280, "dark")], ids=str)
def test_on_paper_nothing_is_light_on_white(page: Page, view: tuple[int, str]) -> None:
    wait_until_drawn(page)
    page.emulate_media(media="print", color_scheme=view[1])  # type: ignore[arg-type]
    colours = "all => [...new Set(all.map((one) => getComputedStyle(one).fill))]"
    ink, soft = "rgb(27, 31, 36)", "rgb(87, 96, 106)"
    assert page.evaluate("getComputedStyle(document.body).color") == ink
    titles = page.locator("#chart-overview .role-title-text text")
    assert titles.evaluate_all(colours) == [ink]
    assert page.locator(".role-axis-label text").evaluate_all(colours) == [soft]
    name = page.locator("button.series").first
    assert name.is_visible(), "the only legend"
    assert name.locator("path").evaluate_all(colours) == ["rgb(0, 114, 178)"]
    assert not page.locator("button.log").first.is_visible()


def column_of_matrix(page: Page, name: str) -> tuple[Locator, Locator]:
    """A column's heading and its cells, of the opened table of all cells."""
    wait_until_drawn(page)
    page.locator("#matrix > summary").click()
    heading = page.locator("#matrix th button", has_text=name)
    column = heading.evaluate("one => one.parentElement.cellIndex")
    return heading, page.locator(f"#matrix tbody tr td:nth-child({column + 1})")


def test_a_table_sorts_by_number_both_ways_with_the_empty_last_by_keyboard(page: Page) -> None:
    heading, cells = column_of_matrix(page, "Throughput /s")
    for direction, name in ((1, "ascending"), (-1, "descending")):
        heading.focus()
        page.keyboard.press("Enter")
        assert heading.locator("..").get_attribute("aria-sort") == name
        values = [each.partition(" ")[0] for each in cells.all_inner_texts()]
        numbers = [float(value) for value in values if value]
        assert len(numbers) == 8
        assert values[len(numbers) :] == [""] * 2
        assert numbers == sorted(numbers)[::direction]


def test_a_table_of_numbers_sorts_by_its_texts_too(page: Page) -> None:
    heading, cells = column_of_matrix(page, "Strategy")
    heading.focus()
    page.keyboard.press("Enter")
    names = cells.all_inner_texts()
    assert names == sorted(names)
    assert len({*names}) == 4


SORTED = """(values) => {
  const table = document.createElement("table");
  table.createTHead().insertRow().innerHTML = `<th class="${values.class}">x</th>`;
  const body = table.createTBody();
  for (const each of values.fields) body.insertRow().insertCell().textContent = each;
  sort(table.tHead.rows[0].cells[0]);
  return [...body.rows].map((row) => row.textContent);
}"""


def test_fields_sort_by_their_numbers_whatever_stands_before_them(page: Page) -> None:
    bounds = {"class": "n", "fields": ["0.5", "< 0.001", "", "0.01"]}
    assert page.evaluate(SORTED, bounds) == ["< 0.001", "0.01", "0.5", ""]
    sizes = {"class": "", "fields": ["1000", "200", "16000", "high"]}
    assert page.evaluate(SORTED, sizes) == ["200", "1000", "16000", "high"]
    endless = {"class": "n", "fields": ["inf", "40", "130"]}
    assert page.evaluate(SORTED, endless) == ["40", "130", "inf"]


def test_a_figure_changes_between_linear_and_logarithmic_by_keyboard(page: Page) -> None:
    wait_until_drawn(page)
    button = page.locator("#chart-figure-15 button.log")
    ticks = "() => document.querySelector('#chart-figure-15 .plot svg').textContent"
    first = page.evaluate(ticks)
    assert button.get_attribute("aria-pressed") == "false"
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    page.wait_for_function(f"({ticks})() !== {first!r}")


def test_a_technique_is_hidden_and_shown(page: Page) -> None:
    wait_until_drawn(page)
    button = page.locator("#chart-figure-24 button.series", has_text="process-per-request")
    marks = "document.querySelectorAll('#chart-figure-24 .plot svg .mark-symbol path').length"
    both = page.evaluate(marks)
    button.click()
    page.wait_for_function(f"{marks} < {both}")
    button.click()
    page.wait_for_function(f"{marks} === {both}")


def test_the_skip_link_is_the_first_thing_a_keyboard_meets(page: Page) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


def test_the_charts_follow_a_change_of_the_colour_scheme(page: Page) -> None:
    wait_until_drawn(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => ({TOO_FAINT})().length === 0")
