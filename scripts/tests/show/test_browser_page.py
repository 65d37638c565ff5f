"""The results browser as a reader has it: in a real Chromium, from a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from page_in_browser import EACH_ONCE, PATIENCE_MS, TOO_FAINT, serious, varied_run
from playwright.sync_api import Browser, Page, expect
from several_runs import MIX, PINNED, SERIAL, lay_down, of_level, runs_with_a_step, three_runs

from restbench.commands.results import browse_runs, keep_run
from restbench.experiment.statistics import holm_levels, log_welch_ratio
from restbench.judge.compare import compare
from restbench.show.browser import site
from restbench.show.browser.document import METRICS
from restbench.store import store
from restbench.store.store import Run
from restbench.store.writing import write_json

SCREENS = ["", "#view=cells", "#view=trend", "#view=compare"]
COMPARED = """([metric, ...names]) => {
  const [first, second] = names.map((name) => DATA.runs.find((run) => run.name === name));
  const ends = (ratio) => ratio && [ratio.estimate, ratio.low, ratio.high];
  return compared(first, second, metric)
    .map(({ one, ratio, words }) => [one.id, ends(ratio), words]);
}"""
FIRST, SECOND, THIRD = "2026-11-01", "2026-11-02", "2026-11-03"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs, and ten more with a step."""
    folder = tmp_path_factory.mktemp("results")
    three_runs(folder)
    runs_with_a_step(folder)
    (folder / "2026-11-30").mkdir()
    (folder / "2026-11-30" / "run.json").write_text('{"form": 0}')
    site.write(folder, *site.find(folder))
    return folder


@pytest.fixture
def address(results: Path) -> str:
    return (results / "index.html").as_uri()


def go(page: Page, selection: str) -> None:
    """Another address of the same page."""
    page.evaluate("selection => { location.hash = selection; }", selection)
    name = re.search(r"view=(\w+)", selection)
    expected = {"cells": "Cells", "trend": "Trend", "compare": "Two runs"}
    link = page.locator("nav a[aria-current=page]")
    expect(link).to_have_text(expected[name[1]] if name else "Runs", timeout=PATIENCE_MS)


def texts(page: Page, selector: str) -> list[str]:
    found: list[str] = page.locator(selector).evaluate_all("all => all.map((one) => one.innerText)")
    return found


def rows(page: Page) -> int:
    return page.locator("#view tbody tr").count()


@pytest.mark.parametrize("view", EACH_ONCE, ids=str)
def test_every_view_fits_its_text_stands_out_and_its_charts_are_drawn(
    page: Page, view: tuple[int, str]
) -> None:
    for selection in SCREENS:
        go(page, selection)
        for place in page.locator(".trend").all():
            expect(place).to_have_attribute("data-drawn", re.compile(r"\d+"), timeout=PATIENCE_MS)
            assert place.locator("svg path").count() > 10
        assert page.evaluate("document.documentElement.scrollWidth") == view[0], selection
        assert page.evaluate(TOO_FAINT) == [], selection
        assert serious(page) == [], selection


def test_the_runs_are_listed_newest_first_with_their_answer_and_page(page: Page) -> None:
    names = texts(page, ".run h3")
    assert len(names) == 13
    assert names == sorted(names, reverse=True)
    assert texts(page, ".sentence")[-1].startswith("In Java")
    assert page.locator(".run h3 a").last.get_attribute("href") == f"{FIRST}/report.html"
    assert "of form 0, this version reads 1" in page.locator("#left-out").inner_text()


def test_the_skip_link_keeps_what_is_selected(page: Page) -> None:
    go(page, "view=cells&strategy=pinned")
    before = page.url
    page.locator("a.skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "view-heading"
    assert page.url == before


def test_a_usual_level_has_a_name(page: Page) -> None:
    assert page.evaluate("['', '2GB'].map(named)") == ["usual", "2GB"]


def test_a_filter_narrows_the_view_and_stands_in_the_address(page: Page) -> None:
    go(page, "view=cells")
    every = rows(page)
    strategy = page.locator(".filter[data-name=strategy]")
    strategy.locator("summary").click()
    strategy.get_by_label("pinned").check()
    expect(page.locator("#status")).to_have_text("13 cells in 13 runs")
    assert "strategy=pinned" in page.url
    assert every > rows(page) == 13
    machine = page.locator(".filter[data-name=machine]")
    machine.locator("summary").click()
    expect(strategy).not_to_have_attribute("open", "")
    machine.get_by_label(re.compile("laptop")).check()
    expect(page.locator("#status")).to_have_text("1 cell in 1 run")
    page.reload()
    expect(page.locator("#status")).to_have_text("1 cell in 1 run")
    assert strategy.locator("summary").inner_text().startswith("Strategy: pinned")
    page.go_back()
    expect(page.locator("#status")).to_have_text("13 cells in 13 runs")
    page.locator("#clear").click()
    expect(page.locator("#status")).to_have_text(f"{every} cells in 13 runs")
    assert page.url.endswith("#view=cells")


def test_a_filter_can_have_several_values(page: Page) -> None:
    go(page, f"view=cells&run={FIRST}&run={SECOND}&size=low+30x20x20")
    assert rows(page) == 4


def test_every_required_filter_is_there(page: Page) -> None:
    names = page.locator(".filter").evaluate_all("all => all.map((one) => one.dataset.name)")
    assert {"experiment", "machine", "commit"} <= set(names), "of runs"
    assert {"service", "framework", "strategy", "size", "users"} <= set(names), "of cells"


def test_cells_sort_by_number_both_ways_and_the_keyboard_stays(page: Page) -> None:
    go(page, "view=cells")
    heading = page.locator("th button", has_text="Throughput /s")
    for direction in (1, -1):
        page.locator("th button", has_text="Throughput /s").focus()
        page.keyboard.press("Enter")
        expect(page.locator("th[aria-sort]")).to_have_attribute(
            "aria-sort", "ascending" if direction == 1 else "descending"
        )
        expect(heading).to_be_focused()
        values = [float(text.split()[0]) for text in texts(page, "#view td:nth-child(7)") if text]
        assert values == sorted(values)[::direction]


def test_a_step_is_named_with_its_commits_and_drawn(page: Page) -> None:
    go(page, "view=trend&experiment=small")
    steps = texts(page, "#view ol.steps li")
    assert len(steps) == 1
    told = texts(page, ".course ul.steps li")[0]
    assert re.search(
        r"Throughput /s \u22123[0-9]\.\d % \[\u22123\d\.\d %, \u2212[23]\d\.\d %\]", told
    )
    assert "between commits c555c555c555 and c666c666c666 (2026-11-15 and 2026-11-16)" in told
    chart = page.locator(".trend").first
    expect(chart).to_have_attribute("data-drawn", re.compile(r"\d+"), timeout=PATIENCE_MS)
    assert "c555c55" in chart.inner_text()
    assert re.search(r"\u22123\d\.\d %", chart.inner_text())
    page.locator(".course ul.steps a").click()
    expect(page.locator("h2#view-heading")).to_have_text("Two runs side by side")


def test_no_line_joins_runs_of_two_machines(page: Page) -> None:
    go(page, "view=trend&cell=java-serial-unbound-low-10u+30x20x20")
    courses = texts(page, ".course h3")
    assert len(courses) == 2
    assert "laptop" in courses[1]
    tables = page.locator(".course table")
    assert [tables.nth(n).locator("tbody tr").count() for n in (0, 1)] == [12, 1]


@pytest.mark.parametrize("metric", METRICS)
def test_two_runs_are_judged_as_the_command_judges_them(
    page: Page, results: Path, metric: str
) -> None:
    """Ratio, interval and words of every common cell: one has a wrong answer, one is slower."""
    told = compare(Run(results / FIRST), Run(results / SECOND), metric, 0.05)
    go(page, f"view=compare&first={FIRST}&second={SECOND}&metric={metric}")
    found = page.evaluate(COMPARED, [METRICS.index(metric), FIRST, SECOND])
    assert [each[0] for each in found] == [line.cell.id for line in told.lines]
    for (_, ratio, words), line in zip(found, told.lines, strict=True):
        assert words == line.words
        theirs = line.comparison.ratio
        assert ratio == (theirs and pytest.approx([theirs.estimate, theirs.low, theirs.high], 1e-5))
    shown = texts(page, "#view td.verdict")
    assert sorted(shown) == sorted(words for _, _, words in found)
    ranks = [words in ("worse", "better") for words in shown]
    assert ranks == sorted(ranks, reverse=True), "what has changed stands first"


def test_its_statistics_are_those_of_the_harness(page: Page) -> None:
    random = np.random.default_rng(3)
    pairs = [
        [np.exp(random.normal(0, 0.1, random.integers(2, 9))).tolist() for _ in range(2)]
        for _ in range(200)
    ]
    found = page.evaluate(
        """pairs => pairs.map(([one, two]) => welchRatio(one, two))
             .map((r) => [r.low, r.high, r.freedom, pAbove(r, 1.05), pAbove(r, 1 / 1.05)])""",
        pairs,
    )
    for (one, two), numbers in zip(pairs, found, strict=True):
        ratio = log_welch_ratio(one, two)
        theirs = [ratio.low, ratio.high, ratio.degrees_of_freedom]
        theirs += [ratio.p_above(1.05), ratio.p_above(1 / 1.05)]
        assert numbers == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    levels = [random.uniform(0, 0.1, 6).tolist() for _ in range(50)]
    told = page.evaluate("all => all.map((values) => holmLevels(values, 0.05))", levels)
    assert told == [pytest.approx(holm_levels(values)) for values in levels]


def test_runs_of_two_machines_are_compared_with_a_warning_and_without_a_verdict(
    page: Page,
) -> None:
    go(page, f"view=compare&first={FIRST}&second={THIRD}")
    assert "Different machines" in page.locator("#view p.bad").inner_text()
    assert set(texts(page, "#view td.verdict")) == {"another machine: not judged"}


def test_without_a_choice_a_run_is_compared_with_the_one_before_on_its_machine(page: Page) -> None:
    go(page, "view=compare")
    chosen = page.locator("#view select").evaluate_all("all => all.map((one) => one.value)")
    assert chosen[:2] == ["2026-11-18", "2026-11-19"]
    page.get_by_label("First").select_option(FIRST)
    expect(page.locator("caption")).to_contain_text(f"2026-11-19 over {FIRST}")
    assert f"first={FIRST}" in page.url


def test_runs_without_a_common_cell_are_not_offered_for_comparison(
    tmp_path: Path, browser: Browser
) -> None:
    lay_down(tmp_path, 1, of_level({SERIAL: 300}), commit="aaaa")
    lay_down(tmp_path, 2, of_level({SERIAL: 310}), commit="bbbb")
    lay_down(tmp_path, 3, of_level({PINNED: 200}), commit="cccc")
    site.write(tmp_path, *site.find(tmp_path))
    page = browser.new_page()
    page.goto((tmp_path / "index.html").as_uri())
    assert texts(page, ".run .links a") == [
        "Its cells",
        "Its cells",
        f"Compare with {FIRST}",
        "Its cells",
    ]
    go(page, "view=compare")
    chosen = page.locator("#view select").evaluate_all("all => all.map((one) => one.value)")
    assert chosen[:2] == [FIRST, SECOND]
    page.close()


def test_wrong_answers_failures_and_other_sizes_come_before_any_speed(
    tmp_path: Path, browser: Browser
) -> None:
    lay_down(tmp_path, 1, of_level({SERIAL: 300, PINNED: 200, MIX: 100}), commit="aaaa")
    levels = of_level({SERIAL: 300, MIX: 100}) | {PINNED: []}
    later = lay_down(tmp_path, 2, levels, commit="bbbb")
    told = json.loads(later.exported_file.read_text())
    next(each for each in told["blocks"] if "serial" in each["cell"])["flags"] = ["wrong-answers"]
    next(each for each in told["cells"] if each.get("mix"))["mix"][0]["shape"]["rows"] = 31
    write_json(later.exported_file, told)
    later.trials.path.unlink()
    site.write(tmp_path, *site.find(tmp_path))
    expected = compare(Run(tmp_path / FIRST), later, "throughput_per_s", 0.05).lines
    page = browser.new_page()
    page.goto(f"{(tmp_path / 'index.html').as_uri()}#view=compare")
    words = texts(page, "#view td.verdict")
    page.close()
    assert sorted(words) == sorted(line.words for line in expected)
    assert [line.change for line in expected] == ["worse", "unknown", "worse"]


def test_a_kept_page_opens_from_a_file_and_shares_the_chart_library(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept by the command, listed by the browser, and without a complaint in Chromium."""
    run = varied_run(tmp_path / "2026-11-01")
    monkeypatch.setattr(store, "RESULTS", tmp_path)
    keep_run(str(run.path), "kept")
    browse_runs()
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    for event in ("console", "pageerror", "requestfailed"):
        page.on(event, lambda told: complaints.append(str(told)))  # type: ignore[call-overload]
    page.goto((tmp_path / "index.html").as_uri())
    page.locator('.run a[href="kept/report.html"]').click()
    page.locator("#answer .plot svg").wait_for()
    page.close()
    assert complaints == []
    kept = [each for each in (tmp_path / "kept").rglob("*") if each.is_file()]
    assert sum(each.stat().st_size for each in kept) < 600_000
    assert "vegaEmbed" not in (tmp_path / "kept" / "report.html").read_text(encoding="utf-8")
