"""The page as a reader has it: in a real Chromium, wide and narrow, light and dark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_in_browser import (
    PATIENCE_MS,
    TOO_FAINT,
    open_everything,
    varied_run,
    wait_until_drawn,
)
from playwright.sync_api import Browser, Page, sync_playwright

from restbench.show.drawing import COLOURS, MARKERS
from restbench.store.store import Run

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: make chromium")

VIEWS = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return varied_run(tmp_path_factory.mktemp("page") / "run")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE_MS
        )
        yield started
        started.close()


@pytest.fixture
def view() -> tuple[int, str]:
    """The width in pixels and the colour scheme; tests that are about both give theirs."""
    return VIEWS[0]


@pytest.fixture
def page(run: Run, browser: Browser, view: tuple[int, str]) -> Iterator[Page]:
    """The page in this view; whatever the browser complains of is a failure of the test."""
    width, scheme = view
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(run.report.as_uri())
    yield page
    context.close()
    assert complaints == []


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_every_chart_is_drawn_all_text_stands_out_and_nothing_is_wider_than_the_page(
    page: Page, view: tuple[int, str], tmp_path: Path
) -> None:
    open_everything(page)
    assert page.locator(".plot").count() == 5 + 1, "panels and stages"
    assert page.evaluate("document.documentElement.scrollWidth") == view[0]
    assert page.evaluate(TOO_FAINT) == []
    page.screenshot(path=tmp_path / "page.png", full_page=True)


def test_nothing_is_asked_of_the_network(run: Run, browser: Browser) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(run.report.as_uri())
    open_everything(page)
    page.close()
    assert asked == [run.report.as_uri()]


def test_links_lead_to_something(page: Page, run: Run) -> None:
    links = page.evaluate("[...document.links].map((link) => link.getAttribute('href'))")
    for link in dict.fromkeys(links):
        if link.startswith("#"):
            assert page.locator(f'[id="{link[1:]}"]').count() == 1, link
        else:
            assert (run.path / link).exists(), link


def test_a_link_to_a_cell_opens_it(page: Page) -> None:
    details = page.locator("#cell-java-serial-unbound-low-30u")
    assert not details.evaluate("one => one.open")
    page.locator('#matrix ~ .scroll a[href="#cell-java-serial-unbound-low-30u"]').click()
    assert details.evaluate("one => one.open")


def test_a_table_sorts_by_number_both_ways_with_the_empty_last(page: Page) -> None:
    heading = page.locator("#matrix ~ .scroll th button", has_text="Throughput /s")
    column = heading.evaluate("one => one.parentElement.cellIndex")
    cells = page.locator(f"#matrix ~ .scroll tbody tr td:nth-child({column + 1})")
    for direction in (1, -1):
        heading.click()
        values = cells.evaluate_all("all => all.map((one) => one.dataset.value)")
        numbers = [float(value) for value in values if value]
        assert len(numbers) == 8
        assert values[len(numbers) :] == [""] * 2
        assert numbers == sorted(numbers)[::direction]


def axis_kind(page: Page, figure: str) -> str:
    kind: str = page.locator(f"{figure} .plot").first.evaluate(
        "plot => echarts.getInstanceByDom(plot).getOption().yAxis[0].type"
    )
    return kind


def test_a_figure_changes_between_linear_and_logarithmic(page: Page) -> None:
    button = page.locator("#figure-15 button.log")
    assert (axis_kind(page, "#figure-15"), button.get_attribute("aria-pressed")) == (
        "value",
        "false",
    )
    button.focus()
    page.keyboard.press("Enter")
    assert (axis_kind(page, "#figure-15"), button.get_attribute("aria-pressed")) == ("log", "true")
    wait_until_drawn(page)
    button.click()
    assert axis_kind(page, "#figure-15") == "value"


def lines(page: Page, figure: str) -> list[str]:
    names: list[str] = page.locator(f"{figure} .plot").first.evaluate(
        "plot => echarts.getInstanceByDom(plot).getOption().series"
        ".filter((one) => one.type === 'line').map((one) => one.name)"
    )
    return names


def test_a_technique_is_hidden_and_shown(page: Page) -> None:
    button = page.locator("#figure-24 button", has_text="PR process-per-request")
    assert lines(page, "#figure-24") == ["PE process-per-element", "PR process-per-request"]
    button.click()
    assert lines(page, "#figure-24") == ["PE process-per-element"]
    button.click()
    assert len(lines(page, "#figure-24")) == 2


def test_the_cell_of_a_point_is_told_under_the_pointer(page: Page) -> None:
    plot = page.locator("#figure-15 .plot").first
    at = plot.evaluate("plot => echarts.getInstanceByDom(plot).convertToPixel('grid', [30, 326.1])")
    plot.hover(position={"x": at[0], "y": at[1]})
    tip = plot.locator(".tip")
    tip.wait_for()
    told = tip.inner_text()
    assert "S serial, low, 30 users" in told
    assert "(95 %, 3 blocks)" in told
    assert "errors" in told


def test_a_bar_has_the_ends_of_its_interval_and_not_as_much_above_as_below(page: Page) -> None:
    ratio = "{ label: 'low', points: [[10, 0.97, [0.64, 1.5], 0, Object.keys(data.cells)[0]]] }"
    bars = page.evaluate(f"() => intervalBars({ratio}, '#000', 0).data")
    assert bars == [[10, 0.64, 1.5]]
    figure = f"{{ panels: [{{ metric: 'share', lines: [{ratio}] }}] }}"
    assert page.evaluate(f"() => scaleOf({figure}, 'share', false).max") == 2
    assert page.evaluate(f"() => scaleOf({figure}, 'share', true).min") == pytest.approx(0.64 / 1.4)
    told = page.evaluate(f"() => pointTip('low', {ratio}.points[0], 'Share')")
    assert "<b>0.970</b> [0.640, 1.50] (95 %" in told


def test_every_colour_of_the_figures_is_one_of_the_pages_with_a_symbol_of_its_own(
    page: Page,
) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours = page.evaluate("() => css('--series').split(' ')")
        assert len(set(colours)) == len(colours) == len(COLOURS)
    numbers = list(range(len(COLOURS)))
    symbols = page.evaluate("numbers => numbers.map(symbolOf)", numbers)
    markers = page.evaluate("numbers => numbers.map((n) => markerIcon(n, '').innerHTML)", numbers)
    assert len(set(symbols)) == len(set(markers)) == len(MARKERS) == len(COLOURS)


def test_the_stages_of_another_size_are_chosen_and_shown_as_shares(page: Page) -> None:
    stages = page.locator("#stages-figure")
    stages.locator("select").select_option("python, low")
    read = "plot => echarts.getInstanceByDom(plot).getOption()"
    option = stages.locator(".plot").evaluate(read)
    assert len(option["yAxis"][0]["data"]) == 3
    stages.locator("button").click()
    option = stages.locator(".plot").evaluate(read)
    whole = [sum(series["data"][0] for series in option["series"])]
    assert whole == [pytest.approx(100)]


def test_the_charts_follow_a_change_of_the_colour_scheme(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    wait_until_drawn(page)
    assert page.evaluate(TOO_FAINT) == []
